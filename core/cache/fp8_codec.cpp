// SPDX-License-Identifier: GPL-3.0-or-later
// vLLM's fp8 (e4m3) cache: one scale for the whole side, given and not measured; no constants per group.
#include "kernels/codec/fp8.h"

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

class Fp8Codec final : public GroupCodec {
 public:
    explicit Fp8Codec(const SideSpec& side) : scale_(side.fp8_scale) {
        for (int code = 0; code < 256; ++code)
            value_[code] = kernels::round_to_half(kernels::e4m3_to_float(uint8_t(code)) * scale_);
    }

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* /*scale*/,
                uint16_t* /*offset*/) const override {
        for (size_t i = 0; i < n_groups * size_t(group); ++i)
            codes[i] = kernels::float_to_e4m3(x[i] / scale_);
    }

    float value(uint8_t code, uint16_t /*scale*/, uint16_t /*offset*/) const override { return value_[code]; }

    std::optional<kernels::AffineForm> form() const override { return {}; }

    bool needs_whole_tensor() const override { return false; }

 private:
    float scale_;
    float value_[256];  ///< of every code
};

}  // namespace

std::unique_ptr<GroupCodec> make_fp8_codec(const SideSpec& side) {
    return std::make_unique<Fp8Codec>(side);
}

}  // namespace kvasir
