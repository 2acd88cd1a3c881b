// SPDX-License-Identifier: GPL-3.0-or-later
// Scores and weighted sums over 90 different heads (30 layers x 3) of 4096 tokens, 3 queries each, in ranges of 256
// tokens: the footprint of a real step. Counter `ns`: per query head and position.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/weight_arena.h"

namespace {

using namespace kvasir::kernels;

constexpr int kHeadDim = 64, kQueries = 3, kHeads = 90, kTokens = 4096, kBlocks = kTokens / 8, kRange = 32;

// One side of all heads on huge pages, filled with small numbers.
template <class T>
struct Arena {
    explicit Arena(size_t per_head)
        : per_head(per_head), data(reinterpret_cast<T*>(allocate_huge(kHeads * per_head * sizeof(T)))) {
        std::memset(static_cast<void*>(data), 0x21, kHeads * per_head * sizeof(T));
    }
    ~Arena() { free_huge(reinterpret_cast<uint8_t*>(data)); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    const T* head(int h) const { return data + size_t(h) * per_head; }

    size_t per_head;
    T* data;
};

struct Vectors {
    std::vector<float> q = std::vector<float>(kQueries * kHeadDim, 0.1f);
    std::vector<float> prepared = std::vector<float>(prepared_query_floats(kHeadDim, kQueries));
    std::vector<float> rows = std::vector<float>(size_t(kQueries) * kRange * 8, 1e-3f);
    std::vector<float> acc = std::vector<float>(kQueries * kHeadDim, 0.0f);
};

// Calls range(head, first block) for all ranges of all heads.
template <class F>
void run_heads(benchmark::State& state, double bytes, F&& range) {
    for (auto _ : state)
        for (int h = 0; h < kHeads; ++h) {
            for (int b = 0; b < kBlocks; b += kRange)
                range(h, b);
            benchmark::ClobberMemory();
        }
    using benchmark::Counter;
    state.counters["ns"] =
        Counter(1e-9 * kHeads * kTokens * kQueries, Counter::kIsIterationInvariantRate | Counter::kInvert);
    state.counters["GB/s"] = Counter(bytes * 1e-9, Counter::kIsIterationInvariantRate);
}

size_t word_count(int bits) {
    return size_t(kTokens) * kHeadDim * size_t(bits) / 32;
}

void token_groups(benchmark::State& state, bool keys) {
    const int bits = int(state.range(0)), group = int(state.range(1));
    const Arena<uint32_t> words(word_count(bits));
    const Arena<uint16_t> scale(size_t(kTokens) * size_t(kHeadDim / group)), offset(scale.per_head);
    Vectors v;
    prepare_query(v.q.data(), kQueries, kHeadDim, bits, group, v.prepared.data());
    const double bytes = kHeads * (4.0 * double(words.per_head) + 4.0 * double(scale.per_head));
    run_heads(state, bytes, [&](int h, int b) {
        const TokenGroups side{bits, kHeadDim, group, {-1, 0}, words.head(h), scale.head(h), offset.head(h)};
        if (keys)
            scores(side, v.prepared.data(), kQueries, b, b + kRange, v.rows.data(), kRange * 8);
        else
            weighted_sum(side, v.rows.data(), kRange * 8, kQueries, b, b + kRange, v.acc.data(), kHeadDim);
    });
}

void channel_groups(benchmark::State& state, bool keys) {
    const int bits = int(state.range(0)), group = int(state.range(1));
    const Arena<uint32_t> words(word_count(bits));
    const Arena<uint16_t> scale(size_t(kTokens / group) * kHeadDim), offset(scale.per_head);
    Vectors v;
    const double bytes = kHeads * (4.0 * double(words.per_head) + 4.0 * double(scale.per_head));
    run_heads(state, bytes, [&](int h, int b) {
        const ChannelGroups side{bits, kHeadDim, group, {1, 0}, words.head(h), scale.head(h), offset.head(h)};
        if (keys)
            scores(side, v.q.data(), kQueries, b, b + kRange, v.rows.data(), kRange * 8);
        else
            weighted_sum(side, v.rows.data(), kRange * 8, kQueries, b, b + kRange, v.acc.data(), kHeadDim);
    });
}

template <class Element>
void exact(benchmark::State& state, bool keys) {
    const Arena<Element> data(size_t(kTokens) * kHeadDim);
    Vectors v;
    run_heads(state, double(kHeads) * double(data.per_head) * sizeof(Element), [&](int h, int b) {
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

void schemes(benchmark::internal::Benchmark* b) {
    b->ArgNames({"bits", "group"})->Unit(benchmark::kMillisecond);
    for (int bits : {1, 2, 4, 8})
        for (int group : {64, 32})
            b->Args({bits, group});
}

BENCHMARK_CAPTURE(token_groups, attention_scores, true)->Apply(schemes);
BENCHMARK_CAPTURE(token_groups, attention_sum, false)->Apply(schemes);
BENCHMARK_CAPTURE(channel_groups, attention_scores, true)->Apply(schemes);
BENCHMARK_CAPTURE(channel_groups, attention_sum, false)->Apply(schemes);
BENCHMARK_CAPTURE(exact_half, attention_scores_fp16, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_half, attention_sum_fp16, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_float, attention_scores_fp32, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_float, attention_sum_fp32, false)->Unit(benchmark::kMillisecond);

}  // namespace
