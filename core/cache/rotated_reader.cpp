// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/rotated_reader.h"

#include "kernels/codec/half.h"
#include "kernels/cpu/ops.h"

namespace kvasir {

void read_for_codec(const TokenReader& source, const SideSpec& side, int head_dim, int kv_head, int begin, int end,
                    float* out) {
    source.read(kv_head, begin, end, out);
    if (!side.rotate) return;
    const bool keeps_fp32 = side.codec == SideSpec::Codec::affine && side.form == SideSpec::Form::minimum_f32;
    for (int t = begin; t < end; ++t, out += head_dim) {
        kernels::hadamard(out, head_dim);
        if (keeps_fp32) continue;
        for (int d = 0; d < head_dim; ++d)
            out[d] = kernels::round_to_half(out[d]);
    }
}

}  // namespace kvasir
