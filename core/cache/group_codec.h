// SPDX-License-Identifier: GPL-3.0-or-later
// How groups of values become codes and up to two fp16 constants, and back. One file per codec, one row in
// codec_table.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/cache/cache_spec.h"
#include "kernels/cpu/attention.h"

namespace kvasir {

class GroupCodec {
 public:
    virtual ~GroupCodec() = default;

    /// x (n_groups, group) -> codes of the same shape, scale and offset (n_groups) fp16. Constants that the side does
    /// not store (constants_per_group) are left alone.
    virtual void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                        uint16_t* offset) const = 0;

    /// The value of one code exactly as the original dequantizes it.
    virtual float value(uint8_t code, uint16_t scale, uint16_t offset) const = 0;

    /// True when coding the values of these codes again gives the same codes and constants.
    virtual bool is_idempotent(const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                               const uint16_t* offset) const;

    /// What `offset` means to the fused kernels: see kernels::AffineForm. Nothing when values do not lie on a line:
    /// then there is no fused kernel.
    virtual std::optional<kernels::AffineForm> form() const = 0;

    /// True when a group's codes depend on the other groups of the tensor: then it is coded as one.
    virtual bool needs_whole_tensor() const = 0;
};

std::unique_ptr<GroupCodec> make_affine_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_hqq_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_ternary_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_ggml_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_turbo_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_exl3_codec(const SideSpec& side);
std::unique_ptr<GroupCodec> make_fp8_codec(const SideSpec& side);

/// The codec of a quantized side. Aborts for an exact one.
std::unique_ptr<GroupCodec> make_codec(const SideSpec& side);

/// Decodes n codes that share their constants, `stride` elements apart in out.
class GroupDecoder {
 public:
    explicit GroupDecoder(const GroupCodec& codec, int bits) : codec_(codec), n_levels_(1 << bits) {}

    /// Tabulates the group's levels when there are few of them.
    void set(uint16_t scale, uint16_t offset) {
        scale_ = scale;
        offset_ = offset;
        if (n_levels_ > 16) return;
        for (int c = 0; c < n_levels_; ++c)
            level_[c] = codec_.value(uint8_t(c), scale, offset);
    }
    float operator()(uint8_t code) const { return n_levels_ > 16 ? codec_.value(code, scale_, offset_) : level_[code]; }

 private:
    const GroupCodec& codec_;
    int n_levels_;
    uint16_t scale_ = 0, offset_ = 0;
    float level_[16] = {};
};

}  // namespace kvasir
