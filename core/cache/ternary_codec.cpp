// SPDX-License-Identifier: GPL-3.0-or-later
// kv-hadamard's ternary values (ternary_v.py, July 2026), here truly packed: 2 bits a code.
#include "kernels/codec/ternary.h"

#include "core/cache/group_codec.h"
#include "kernels/cpu/encode_groups.h"

namespace kvasir {
namespace {

class TernaryCodec final : public GroupCodec {
 public:
    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* /*offset*/) const override {
        constexpr int kBits = 2;
        kernels::encode_groups({kernels::GroupEncoding::ternary, kBits}, x, n_groups, group, codes, scale, nullptr);
    }

    float value(uint8_t code, uint16_t scale, uint16_t /*offset*/) const override {
        return kernels::ternary_value(code, kernels::half_to_float(scale));
    }

    /// (code - 1) * scale
    std::optional<kernels::AffineForm> form() const override { return kernels::AffineForm{0, -1}; }

    bool needs_whole_tensor() const override { return false; }
};

}  // namespace

std::unique_ptr<GroupCodec> make_ternary_codec(const SideSpec&) {
    return std::make_unique<TernaryCodec>();
}

}  // namespace kvasir
