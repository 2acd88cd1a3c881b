// SPDX-License-Identifier: GPL-3.0-or-later
// llama.cpp's cache types: blocks of 32 along head_dim, fp32 values that are not rounded to fp16.
#include "kernels/codec/ggml.h"

#include "core/cache/group_codec.h"
#include "kernels/cpu/encode_groups.h"

namespace kvasir {
namespace {

class GgmlCodec final : public GroupCodec {
 public:
    explicit GgmlCodec(const SideSpec& side) : bits_(side.bits), symmetric_(side.form == SideSpec::Form::symmetric) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        const auto encoding = bits_ == 8   ? kernels::GroupEncoding::ggml_q8
                              : symmetric_ ? kernels::GroupEncoding::ggml_symmetric
                                           : kernels::GroupEncoding::ggml_offset;
        kernels::encode_groups({encoding, bits_}, x, n_groups, group, codes, scale, symmetric_ ? nullptr : offset);
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        const float d = kernels::half_to_float(scale);
        if (symmetric_) return (float(code) - middle()) * d;
        return float(code) * d + kernels::half_to_float(offset);
    }

    std::optional<kernels::AffineForm> form() const override {
        if (symmetric_) return kernels::AffineForm{0, -middle()};
        return kernels::AffineForm{1, 0};
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
