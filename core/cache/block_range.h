// SPDX-License-Identifier: GPL-3.0-or-later
// Between token ranges [begin, end) and kernels that work on whole blocks of 8 tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kvasir {

constexpr int kBlock = 8;

inline int blocks_of(int n_tokens) {
    return (n_tokens + kBlock - 1) / kBlock;
}

/// Calls kernel(block_begin, block_end, out, out_stride) so that out[h * out_stride + (t - begin)] is filled for tokens
/// [begin, end) only.
template <class Kernel>
void scores_of_blocks(int n_queries, int begin, int end, float* out, size_t out_stride, Kernel&& kernel) {
    const int block_begin = begin / kBlock, block_end = blocks_of(end);
    if (begin % kBlock == 0 && end % kBlock == 0) return kernel(block_begin, block_end, out, out_stride);
    thread_local std::vector<float> scratch;
    const size_t stride = size_t(block_end - block_begin) * kBlock;
    scratch.resize(stride * n_queries);
    kernel(block_begin, block_end, scratch.data(), stride);
    const int skip = begin - block_begin * kBlock;
    for (int h = 0; h < n_queries; ++h)
        std::copy_n(scratch.data() + h * stride + skip, end - begin, out + h * out_stride);
}

/// Calls kernel(block_begin, block_end, p, p_stride) with the weights of tokens outside [begin, end) set to 0.
template <class Kernel>
void weights_of_blocks(int n_queries, int begin, int end, const float* p, size_t p_stride, Kernel&& kernel) {
    const int block_begin = begin / kBlock, block_end = blocks_of(end);
    if (begin % kBlock == 0 && end % kBlock == 0) return kernel(block_begin, block_end, p, p_stride);
    thread_local std::vector<float> scratch;
    const size_t stride = size_t(block_end - block_begin) * kBlock;
    scratch.assign(stride * n_queries, 0.0f);
    const int skip = begin - block_begin * kBlock;
    for (int h = 0; h < n_queries; ++h)
        std::copy_n(p + h * p_stride, end - begin, scratch.data() + h * stride + skip);
    kernel(block_begin, block_end, scratch.data(), stride);
}

}  // namespace kvasir
