// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/rotated_reader.h"

#include "kernels/codec/half.h"

namespace kvasir {
namespace {

bool works_on_fp32(const SideSpec& side) {
    using Codec = SideSpec::Codec;
    switch (side.codec) {
        case Codec::affine:
            return side.form == SideSpec::Form::minimum_f32;
        case Codec::ggml:
        case Codec::turbo:
        case Codec::exl3:
        case Codec::fp32:
            return true;
        default:
            return false;
    }
}

}  // namespace

void read_for_codec(const TokenReader& source, const SideSpec& side, const Rotation& rotation, int head_dim,
                    int kv_head, int begin, int end, float* out) {
    source.read(kv_head, begin, end, out);
    if (rotation.identity()) return;
    const bool rounds = side.rotates() && !works_on_fp32(side);
    for (int t = begin; t < end; ++t, out += head_dim) {
        rotation.forward(out);
        for (int d = 0; d < head_dim && rounds; ++d)
            out[d] = kernels::round_to_half(out[d]);
    }
}

bool reads_back_plain(const SideSpec& side) {
    return side.codec == SideSpec::Codec::exl3 || (side.codec == SideSpec::Codec::ternary && side.rotates());
}

}  // namespace kvasir
