// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cache/store.h"

namespace kvasir {

/// Tokens [begin, end) of one head as the side's codec wants them: rotated where the side rotates. A rotated fp16
/// tensor is rounded to fp16 again, except for the codec that works on fp32 values (kv-hadamard).
void read_for_codec(const TokenReader& source, const SideSpec& side, int head_dim, int kv_head, int begin, int end,
                    float* out);

}  // namespace kvasir
