// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/codec/exl3.h"

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

class Exl3Codec final : public GroupCodec {
 public:
    explicit Exl3Codec(const SideSpec& side) : bits_(side.bits) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* /*offset*/) const override {
        for (size_t g = 0; g < n_groups; ++g)
            scale[g] = kernels::float_to_half(kernels::exl3_encode(x + g * group, group, bits_, codes + g * group));
    }

    float value(uint8_t code, uint16_t scale, uint16_t /*offset*/) const override {
        return kernels::exl3_value(code, kernels::half_to_float(scale), bits_);
    }

    /// Its scale is divided by m, which AffineForm cannot say.
    std::optional<kernels::AffineForm> form() const override { return {}; }

    bool needs_whole_tensor() const override { return false; }

 private:
    int bits_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_exl3_codec(const SideSpec& side) {
    return std::make_unique<Exl3Codec>(side);
}

}  // namespace kvasir
