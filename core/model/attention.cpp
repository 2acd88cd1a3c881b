// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/attention.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

int ranges_of(int position) {
    return position / Attention::range_length(position) + 1;
}

}  // namespace

/// Adds the nanoseconds since the last lap to a part of a time split.
struct Attention::Timer {
    using Clock = std::chrono::steady_clock;
    Clock::time_point last = Clock::now();
    void lap(double& part) {
        const Clock::time_point now = Clock::now();
        part += std::chrono::duration<double, std::nano>(now - last).count();
        last = now;
    }
};

// A partial: maximum (n_queries), sum of exp (n_queries), weighted values (n_queries, width).
Attention::Attention(int n_heads, int n_kv_heads, int head_dim, int n_threads)
    : n_kv_heads_(n_kv_heads),
      head_dim_(head_dim),
      n_queries_(n_heads / n_kv_heads),
      width_(2 * size_t(kernels::padded_channels(head_dim))),
      partial_floats_(size_t(n_queries_) * (2 + width_)),
      thread_times_(size_t(n_threads)),
      thread_partials_(size_t(n_threads)) {}

void Attention::one_range(int layer, const AttentionRow& row, int kv_head, int range, const float* prepared,
                          float* partial, TimeSplit& time) const {
    Timer timer;
    const int length = range_length(row.position);
    const int begin = range * length, end = std::min(row.position + 1, begin + length);
    float few[8 * kLongestRange];
    std::vector<float> many;  // models with more than 8 queries per KV head
    if (n_queries_ > 8) many.resize(size_t(n_queries_) * size_t(length));
    float* weights = n_queries_ > 8 ? many.data() : few;
    row.cache->scores(layer, kv_head, prepared, n_queries_, begin, end, weights, size_t(length));
    timer.lap(time.scores);
    row.cache->fetch_values(layer, kv_head, begin, end);  // while the processor takes exponentials
    for (int h = 0; h < n_queries_; ++h)
        partial[h] = kernels::exp_minus_max(weights + h * length, end - begin, &partial[n_queries_ + h]);
    timer.lap(time.softmax);
    float* acc = partial + 2 * n_queries_;
    std::fill_n(acc, size_t(n_queries_) * width_, 0.0f);
    row.cache->weighted_sum(layer, kv_head, weights, size_t(length), n_queries_, begin, end, acc);
    timer.lap(time.weighted_sum);
}

void Attention::combine(int layer, const AttentionRow& row, float* partials, int n_ranges, float* out,
                        TimeSplit& time) const {
    Timer timer;
    const size_t width = width_;
    float* total = partials;  // the first range's accumulators take the result
    for (int h = 0; h < n_queries_; ++h) {
        float top = partials[h];
        for (int r = 1; r < n_ranges; ++r)
            top = std::max(top, partials[size_t(r) * partial_floats_ + size_t(h)]);
        float sum = 0;
        float* acc = total + 2 * n_queries_ + size_t(h) * width;
        for (int r = 0; r < n_ranges; ++r) {
            const float* part = partials + size_t(r) * partial_floats_;
            const float factor = std::exp(part[h] - top);
            const float* from = part + 2 * n_queries_ + size_t(h) * width;
            sum += factor * part[n_queries_ + h];
            if (r == 0) {
                for (size_t d = 0; d < width; ++d)
                    acc[d] *= factor;
            } else {
                for (size_t d = 0; d < width; ++d)
                    acc[d] += factor * from[d];
            }
        }
        kernels::scale(1.0f / sum, int(width), acc);
    }
    timer.lap(time.softmax);
    row.cache->finish_output(layer, total + 2 * n_queries_, n_queries_, out);
    timer.lap(time.rotate);
}

void Attention::run(kernels::ThreadPool& pool, int layer, const std::vector<AttentionRow>& rows, const float* q,
                    size_t q_stride, float* out, size_t out_stride, bool by_range, std::vector<TimeSplit>& cpu_times) {
    const int n_rows = int(rows.size()), n_pairs = n_rows * n_kv_heads_;
    const size_t head_floats = size_t(n_queries_) * size_t(head_dim_);
    size_t prepared_floats = 0;
    for (const AttentionRow& row : rows)
        prepared_floats = std::max(prepared_floats, row.cache->query_floats(n_queries_));
    if (prepared_.size() < prepared_floats * size_t(n_pairs)) prepared_.resize(prepared_floats * size_t(n_pairs));
    for (auto& times : thread_times_)
        times.assign(cpu_times.size(), TimeSplit{});

    const auto prepare = [&](int pair, TimeSplit& time) {
        Timer timer;
        const int row = pair / n_kv_heads_, kv_head = pair % n_kv_heads_;
        rows[size_t(row)].cache->prepare_query(layer, q + size_t(row) * q_stride + size_t(kv_head) * head_floats,
                                               n_queries_, prepared_.data() + prepared_floats * size_t(pair));
        timer.lap(time.rotate);
    };
    const auto output_of = [&](int pair) {
        return out + size_t(pair / n_kv_heads_) * out_stride + size_t(pair % n_kv_heads_) * head_floats;
    };

    if (!by_range) {
        pool.for_each(n_pairs, 1, [&](int pair, int thread) {
            const AttentionRow& row = rows[size_t(pair / n_kv_heads_)];
            TimeSplit& time = thread_times_[size_t(thread)][size_t(row.sequence)];
            const int n_ranges = ranges_of(row.position);
            std::vector<float>& mine = thread_partials_[size_t(thread)];
            if (mine.size() < partial_floats_ * size_t(n_ranges)) mine.resize(partial_floats_ * size_t(n_ranges));
            prepare(pair, time);
            for (int r = 0; r < n_ranges; ++r)
                one_range(layer, row, pair % n_kv_heads_, r, prepared_.data() + prepared_floats * size_t(pair),
                          mine.data() + partial_floats_ * size_t(r), time);
            combine(layer, row, mine.data(), n_ranges, output_of(pair), time);
        });
    } else {
        first_item_.assign(size_t(n_rows) + 1, 0);
        for (int i = 0; i < n_rows; ++i)
            first_item_[size_t(i) + 1] =
                first_item_[size_t(i)] + size_t(n_kv_heads_ * ranges_of(rows[size_t(i)].position));
        const size_t n_items = first_item_.back();
        if (partials_.size() < n_items * partial_floats_) partials_.resize(n_items * partial_floats_);
        pool.for_each(n_pairs, 1, [&](int pair, int thread) {
            prepare(pair, thread_times_[size_t(thread)][size_t(rows[size_t(pair / n_kv_heads_)].sequence)]);
        });
        pool.for_each(int(n_items), 1, [&](int item, int thread) {
            const size_t row_index =
                size_t(std::upper_bound(first_item_.begin(), first_item_.end(), size_t(item)) - first_item_.begin()) -
                1;
            const AttentionRow& row = rows[row_index];
            const int n_ranges = ranges_of(row.position), inside = item - int(first_item_[row_index]);
            const int kv_head = inside / n_ranges;
            const size_t pair = row_index * size_t(n_kv_heads_) + size_t(kv_head);
            one_range(layer, row, kv_head, inside % n_ranges, prepared_.data() + prepared_floats * pair,
                      partial(size_t(item)), thread_times_[size_t(thread)][size_t(row.sequence)]);
        });
        pool.for_each(n_pairs, 1, [&](int pair, int thread) {
            const size_t row_index = size_t(pair / n_kv_heads_);
            const AttentionRow& row = rows[row_index];
            const int n_ranges = ranges_of(row.position);
            combine(layer, row, partial(first_item_[row_index] + size_t(pair % n_kv_heads_ * n_ranges)), n_ranges,
                    output_of(pair), thread_times_[size_t(thread)][size_t(row.sequence)]);
        });
    }
    for (const auto& times : thread_times_)
        for (size_t s = 0; s < cpu_times.size(); ++s)
            cpu_times[s] += times[s];
}

}  // namespace kvasir
