// SPDX-License-Identifier: GPL-3.0-or-later
// llama.cpp's cache types: blocks of 32 along head_dim, fp32 values that are not rounded to fp16.
#include "kernels/codec/ggml.h"

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

class GgmlCodec final : public GroupCodec {
 public:
    explicit GgmlCodec(const SideSpec& side) : bits_(side.bits), symmetric_(side.form == SideSpec::Form::symmetric) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        for (size_t g = 0; g < n_groups; ++g) {
            const float* values = x + g * group;
            uint8_t* to = codes + g * group;
            const auto c = bits_ == 8   ? kernels::ggml_encode_q8(values, group, to)
                           : symmetric_ ? kernels::ggml_encode_symmetric(values, group, bits_, to)
                                        : kernels::ggml_encode_offset(values, group, bits_, to);
            scale[g] = kernels::float_to_half(c.d);
            if (!symmetric_) offset[g] = kernels::float_to_half(c.m);
        }
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        const float d = kernels::half_to_float(scale);
        if (symmetric_) return (float(code) - middle()) * d;
        return float(code) * d + kernels::half_to_float(offset);
    }

    kernels::AffineForm form() const override {
        if (symmetric_) return {0, -middle()};
        return {1, 0};
    }

    bool needs_whole_tensor() const override { return false; }

 private:
    float middle() const { return float(1 << (bits_ - 1)); }

    int bits_;
    bool symmetric_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_ggml_codec(const SideSpec& side) {
    return std::make_unique<GgmlCodec>(side);
}

}  // namespace kvasir
