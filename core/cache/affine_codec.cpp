// SPDX-License-Identifier: GPL-3.0-or-later
// Quanto (float shift), KIVI and kv-hadamard group constants.
#include "kernels/codec/affine.h"

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

class AffineCodec final : public GroupCodec {
 public:
    explicit AffineCodec(const SideSpec& side)
        : bits_(side.bits),
          sign_(side.form == SideSpec::Form::shift ? -1.0f : 1.0f),
          unrounded_(side.form == SideSpec::Form::minimum_f32) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        for (size_t g = 0; g < n_groups; ++g) {
            const float* values = x + g * group;
            const auto c = unrounded_ ? kernels::affine_encode_f32(values, group, bits_, codes + g * group)
                                      : kernels::affine_encode(values, group, bits_, codes + g * group);
            scale[g] = kernels::float_to_half(c.scale);
            offset[g] = kernels::float_to_half(sign_ * c.minimum);
        }
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        return kernels::affine_value(code, kernels::half_to_float(scale), sign_ * kernels::half_to_float(offset));
    }

    kernels::AffineForm form() const override { return {sign_, 0}; }

    bool needs_whole_tensor() const override { return false; }

 private:
    int bits_;
    float sign_;  ///< minimum = sign * offset
    bool unrounded_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_affine_codec(const SideSpec& side) {
    return std::make_unique<AffineCodec>(side);
}

}  // namespace kvasir
