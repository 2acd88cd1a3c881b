// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

/// Tokens [begin, end) of one head as the side's codec wants them: in the stored space. A rotated fp16 tensor is
/// rounded to fp16 again, except for the codecs that work on fp32 values (kv-hadamard, ggml, TurboQuant, exllamav3).
void read_for_codec(const TokenReader& source, const SideSpec& side, const Rotation& rotation, int head_dim,
                    int kv_head, int begin, int end, float* out);

/// True for codecs whose originals rotate values back as they dequantize them, rounding them to fp16 (exllamav3,
/// kv-hadamard's rotated ternary): attention sees plain values.
bool reads_back_plain(const SideSpec& side);

}  // namespace kvasir
