// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of one layer over caches that answer for themselves: fixed ranges of tokens, each with its own maximum, are
// combined in a fixed order, so the result does not depend on threads, lanes or prompt chunks.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/time_split.h"
#include "core/cache/kv_cache.h"
#include "kernels/cpu/thread_pool.h"

namespace kvasir {

/// One query token of one sequence.
struct AttentionRow {
    int sequence = 0;
    int position = 0;  ///< attends to tokens [0, position]
    KvCache* cache = nullptr;
};

class Attention {
 public:
    static constexpr int kLongestRange = 1024;
    /// Tokens per partial result: short ones give every thread work, long ones cost less. It depends on the position
    /// alone, so that the bits do not depend on threads or prompt chunks.
    static constexpr int range_length(int position) { return position < 2048 ? 256 : position < 6144 ? 512 : 1024; }

    Attention(int n_heads, int n_kv_heads, int head_dim, int n_threads);

    /// q (rows, q_stride): the layer's queries after RoPE, scaled by 1/sqrt(head_dim). out (rows, out_stride), head h
    /// at out[h * head_dim]. by_range splits each row over threads (decoding); otherwise a row is one piece of work
    /// (prompts). Both give the same bits. Adds the time of each sequence's work to cpu_times (sequences).
    void run(kernels::ThreadPool& pool, int layer, const std::vector<AttentionRow>& rows, const float* q,
             size_t q_stride, float* out, size_t out_stride, bool by_range, std::vector<TimeSplit>& cpu_times);

 private:
    struct Timer;
    float* partial(size_t index) { return partials_.data() + index * partial_floats_; }
    void one_range(int layer, const AttentionRow& row, int kv_head, int range, const float* prepared, float* partial,
                   TimeSplit& time) const;
    void combine(int layer, const AttentionRow& row, float* partials, int n_ranges, float* out, TimeSplit& time) const;

    int n_kv_heads_, head_dim_, n_queries_;
    size_t width_;  ///< floats of the two sums of a query, see KvCache::weighted_sum
    size_t partial_floats_;
    std::vector<float> partials_, prepared_;
    std::vector<size_t> first_item_;  // per row, first (kv_head, range) item
    std::vector<std::vector<TimeSplit>> thread_times_;
    std::vector<std::vector<float>> thread_partials_;
};

}  // namespace kvasir
