// SPDX-License-Identifier: GPL-3.0-or-later
// Scale and offset per group: Quanto (float shift, and the integer zero point of 0.2.0 to 0.2.2), KIVI, kv-hadamard,
// QuaRot. Sources and worked examples: kernels/codec/affine.h.
#include "kernels/codec/affine.h"

#include "core/cache/group_codec.h"
#include "kernels/cpu/encode_groups.h"

namespace kvasir {
namespace {

using Form = SideSpec::Form;

class AffineCodec final : public GroupCodec {
 public:
    explicit AffineCodec(const SideSpec& side) : form_(side.form), how_{encoding(), side.bits, least_range(), sign()} {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        kernels::encode_groups(how_, x, n_groups, group, codes, scale, offset);
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        const float s = kernels::half_to_float(scale), o = kernels::half_to_float(offset);
        return form_ == Form::integer ? kernels::integer_value(code, s, o) : kernels::affine_value(code, s, sign() * o);
    }

    bool is_idempotent(const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                       const uint16_t* offset) const override {
        return kernels::knows_rest(how_, group) ? kernels::groups_rest(how_, codes, n_groups, group, scale, offset)
                                                : GroupCodec::is_idempotent(codes, n_groups, group, scale, offset);
    }

    std::optional<kernels::AffineForm> form() const override {
        if (form_ == Form::integer) return kernels::AffineForm{0, -1};
        return kernels::AffineForm{sign(), 0};
    }

    bool needs_whole_tensor() const override { return false; }

 private:
    /// minimum = sign * offset
    float sign() const { return form_ == Form::shift || form_ == Form::quarot ? -1.0f : 1.0f; }

    float least_range() const { return form_ == Form::quarot ? kernels::round_to_half(1e-5f) : 0.0f; }

    kernels::GroupEncoding encoding() const {
        return form_ == Form::integer       ? kernels::GroupEncoding::affine_integer
               : form_ == Form::minimum_f32 ? kernels::GroupEncoding::affine_f32
                                            : kernels::GroupEncoding::affine;
    }

    Form form_;
    kernels::GroupEncoder how_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_affine_codec(const SideSpec& side) {
    return std::make_unique<AffineCodec>(side);
}

}  // namespace kvasir
