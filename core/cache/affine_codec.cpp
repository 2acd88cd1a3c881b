// SPDX-License-Identifier: GPL-3.0-or-later
// Scale and offset per group: Quanto (float shift, and the integer zero point of 0.2.0 to 0.2.2), KIVI, kv-hadamard,
// QuaRot. Sources and worked examples: kernels/codec/affine.h.
#include "kernels/codec/affine.h"

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

using Form = SideSpec::Form;

class AffineCodec final : public GroupCodec {
 public:
    explicit AffineCodec(const SideSpec& side) : bits_(side.bits), form_(side.form) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        for (size_t g = 0; g < n_groups; ++g)
            encode_group(x + g * group, group, codes + g * group, scale[g], offset[g]);
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        const float s = kernels::half_to_float(scale), o = kernels::half_to_float(offset);
        return form_ == Form::integer ? kernels::integer_value(code, s, o) : kernels::affine_value(code, s, sign() * o);
    }

    kernels::AffineForm form() const override {
        if (form_ == Form::integer) return {0, -1};
        return {sign(), 0};
    }

    bool needs_whole_tensor() const override { return false; }

 private:
    /// minimum = sign * offset
    float sign() const { return form_ == Form::shift || form_ == Form::quarot ? -1.0f : 1.0f; }

    float least_range() const { return form_ == Form::quarot ? kernels::round_to_half(1e-5f) : 0.0f; }

    void encode_group(const float* x, int n, uint8_t* codes, uint16_t& scale, uint16_t& offset) const {
        if (form_ == Form::integer) {
            const auto c = kernels::affine_encode_integer(x, n, bits_, codes);
            scale = kernels::float_to_half(c.scale);
            offset = kernels::float_to_half(c.zero_point);
            return;
        }
        const auto c = form_ == Form::minimum_f32 ? kernels::affine_encode_f32(x, n, bits_, codes)
                                                  : kernels::affine_encode(x, n, bits_, codes, least_range());
        scale = kernels::float_to_half(c.scale);
        offset = kernels::float_to_half(sign() * c.minimum);
    }

    int bits_;
    Form form_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_affine_codec(const SideSpec& side) {
    return std::make_unique<AffineCodec>(side);
}

}  // namespace kvasir
