// SPDX-License-Identifier: GPL-3.0-or-later
// Scores and weighted sums over heads of 4096 tokens, 3 queries each, in ranges of 256 tokens. heads:90 (30 layers x 3)
// is the footprint of a real step, heads:1 stays in the second-level cache and shows the kernel alone. Counter `ns`:
// per query head and position; `floor`: that over the time of its multiply-adds at the rate measured first.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/huge_arena.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/thread_pool.h"

namespace {

using namespace kvasir::kernels;

constexpr int kHeadDim = 64, kQueries = 3, kTokens = 4096, kBlocks = kTokens / 8, kRange = 32;

// One side of all heads on huge pages, filled with small numbers.
template <class T>
struct Arena {
    Arena(int n_heads, size_t per_head)
        : per_head(per_head),
          bytes(size_t(n_heads) * per_head * sizeof(T) + kReadBeyond),
          data(reinterpret_cast<T*>(map_huge(bytes))) {
        std::memset(static_cast<void*>(data), 0x21, bytes);
    }
    ~Arena() { unmap_huge(reinterpret_cast<uint8_t*>(data), bytes); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    const T* head(int h) const { return data + size_t(h) * per_head; }

    size_t per_head, bytes;
    T* data;
};

struct Vectors {
    std::vector<float> q = std::vector<float>(kQueries * kHeadDim, 0.1f);
    std::vector<float> prepared = std::vector<float>(prepared_query_floats(kHeadDim, kQueries));
    std::vector<float> rows = std::vector<float>(size_t(kQueries) * kRange * 8, 1e-3f);
    std::vector<float> acc = std::vector<float>(kQueries * kHeadDim, 0.0f);
};

// Nanoseconds of one multiply-add on one thread.
double multiply_add_ns() {
    static const double ns = [] {
        ThreadPool one(1);
        return 2 / measure_fma_rate(one);
    }();
    return ns;
}

// Calls range(head, first block) for all ranges of all heads. bytes: of one head.
template <class F>
void run_heads(benchmark::State& state, int n_heads, double bytes, F&& range) {
    for (auto _ : state)
        for (int h = 0; h < n_heads; ++h) {
            for (int b = 0; b < kBlocks; b += kRange)
                range(h, b);
            benchmark::ClobberMemory();
        }
    using benchmark::Counter;
    const auto per_pair = Counter::kIsIterationInvariantRate | Counter::kInvert;
    const double pairs = 1e-9 * n_heads * kTokens * kQueries;
    state.counters["ns"] = Counter(pairs, per_pair);
    state.counters["floor"] = Counter(pairs * kHeadDim * multiply_add_ns(), per_pair);
    state.counters["GB/s"] = Counter(n_heads * bytes * 1e-9, Counter::kIsIterationInvariantRate);
}

size_t word_count(int bits) {
    return size_t(kTokens) * kHeadDim * size_t(bits) / 32;
}

void token_groups(benchmark::State& state, bool keys) {
    const int n_heads = int(state.range(0)), bits = int(state.range(1)), group = int(state.range(2));
    const Arena<uint32_t> words(n_heads, word_count(bits));
    const Arena<uint16_t> scale(n_heads, size_t(kTokens) * size_t(kHeadDim / group)), offset(n_heads, scale.per_head);
    Vectors v;
    prepare_query(v.q.data(), kQueries, kHeadDim, bits, group, v.prepared.data());
    const double bytes = 4.0 * double(words.per_head) + 4.0 * double(scale.per_head);
    run_heads(state, n_heads, bytes, [&](int h, int b) {
        const TokenGroups side{bits, kHeadDim, group, {-1, 0}, words.head(h), scale.head(h), offset.head(h)};
        if (keys)
            scores(side, v.prepared.data(), kQueries, b, b + kRange, v.rows.data(), kRange * 8);
        else
            weighted_sum(side, v.rows.data(), kRange * 8, kQueries, b, b + kRange, v.acc.data(), kHeadDim);
    });
}

void channel_groups(benchmark::State& state, bool keys) {
    const int n_heads = int(state.range(0)), bits = int(state.range(1)), group = int(state.range(2));
    const Arena<uint32_t> words(n_heads, word_count(bits));
    const Arena<uint16_t> scale(n_heads, size_t(kTokens / group) * kHeadDim), offset(n_heads, scale.per_head);
    Vectors v;
    const double bytes = 4.0 * double(words.per_head) + 4.0 * double(scale.per_head);
    run_heads(state, n_heads, bytes, [&](int h, int b) {
        const ChannelGroups side{bits, kHeadDim, group, {1, 0}, words.head(h), scale.head(h), offset.head(h)};
        if (keys)
            scores(side, v.q.data(), kQueries, b, b + kRange, v.rows.data(), kRange * 8);
        else
            weighted_sum(side, v.rows.data(), kRange * 8, kQueries, b, b + kRange, v.acc.data(), kHeadDim);
    });
}

template <class Element>
void exact(benchmark::State& state, bool keys) {
    const int n_heads = int(state.range(0));
    const Arena<Element> data(n_heads, size_t(kTokens) * kHeadDim);
    Vectors v;
    run_heads(state, n_heads, double(data.per_head) * sizeof(Element), [&](int h, int b) {
        const ExactTokens<Element> side{kHeadDim, data.head(h)};
        if (keys)
            scores(side, v.q.data(), kQueries, b, b + kRange, v.rows.data(), kRange * 8);
        else
            weighted_sum(side, v.rows.data(), kRange * 8, kQueries, 8 * b, 8 * (b + kRange), v.acc.data(), kHeadDim);
    });
}

void exact_half(benchmark::State& state, bool keys) {
    exact<uint16_t>(state, keys);
}
void exact_float(benchmark::State& state, bool keys) {
    exact<float>(state, keys);
}

// The best of several repetitions: what others do on the machine only ever adds time.
void best_of_nine(benchmark::internal::Benchmark* b) {
    const auto least = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
    b->Unit(benchmark::kMillisecond)->MinTime(0.01)->Repetitions(9)->ReportAggregatesOnly();
    b->ComputeStatistics("min", least);
}

void schemes(benchmark::internal::Benchmark* b) {
    best_of_nine(b->ArgNames({"heads", "bits", "group"})->ArgsProduct({{1, 90}, {1, 2, 4, 8}, {64, 32}}));
}
void heads(benchmark::internal::Benchmark* b) {
    best_of_nine(b->ArgNames({"heads"})->Arg(1)->Arg(90));
}

BENCHMARK_CAPTURE(token_groups, attention_scores, true)->Apply(schemes);
BENCHMARK_CAPTURE(token_groups, attention_sum, false)->Apply(schemes);
BENCHMARK_CAPTURE(channel_groups, attention_scores, true)->Apply(schemes);
BENCHMARK_CAPTURE(channel_groups, attention_sum, false)->Apply(schemes);
BENCHMARK_CAPTURE(exact_half, attention_scores_fp16, true)->Apply(heads);
BENCHMARK_CAPTURE(exact_half, attention_sum_fp16, false)->Apply(heads);
BENCHMARK_CAPTURE(exact_float, attention_scores_fp32, true)->Apply(heads);
BENCHMARK_CAPTURE(exact_float, attention_sum_fp32, false)->Apply(heads);

}  // namespace
