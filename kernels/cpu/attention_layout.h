// SPDX-License-Identifier: GPL-3.0-or-later
// What the attention sources share: how queries are cut into chunks and prepared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "kernels/cpu/attention.h"

namespace kvasir::kernels {

/// Channels that the buffers on the stack hold.
constexpr int kMaxHeadDim = kLargestHeadDim;

/// How far ahead the constants of groups are fetched, in bytes: a short range's worth, so that they are there when the
/// next range begins.
constexpr size_t kConstantsAhead = 1024;

/// Bytes of values that the weighted sum passes several times, once for some of the channels each.
constexpr size_t kSumPieceBytes = 8192;

inline void require_head_dim(int head_dim) {
    if (head_dim > 0 && head_dim <= kMaxHeadDim && head_dim % 8 == 0) return;
    std::fprintf(stderr, "kvasir: head_dim must be a multiple of 8 up to %d, not %d\n", kMaxHeadDim, head_dim);
    std::abort();
}

/// Floats of one prepared query: its channels, then one sum per group. A chunk of t queries holds, with the t
/// queries interleaved, [group][word j][slot s] and then [group].
inline size_t prepared_floats_per_query(int head_dim, int group) {
    return size_t(head_dim) + size_t(head_dim / group);
}

}  // namespace kvasir::kernels
