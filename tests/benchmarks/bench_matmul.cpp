// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices of one model step, larger than the caches: weights come from memory as they do while decoding.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/cpu/matmul.h"
#include "kernels/cpu/thread_pool.h"

namespace {

using namespace kvasir::kernels;

constexpr int kCols = 576;

// Zero scales would not slow anything down, but 0x2020 everywhere is a small, normal fp16 and float as well.
PackedMatrix matrix(WeightType type, int rows) {
    const std::vector<uint8_t> row(row_bytes(type, kCols), 0x20);
    return PackedMatrix::pack(type, rows, kCols, [&](int) { return row.data(); });
}

void run_matmul(benchmark::State& state, WeightType type, int rows) {
    const int n = int(state.range(0));
    ThreadPool pool{int(state.range(1))};
    const PackedMatrix w = matrix(type, rows);
    const std::vector<float> x(kCols, 0.5f);
    std::vector<float> prepared(activation_floats(n, kCols)), y(size_t(n) * size_t(rows));
    for (int i = 0; i < n; ++i)
        prepare_activation(x.data(), i, kCols, prepared.data());
    for (auto _ : state) {
        pool.for_blocks(rows / 8, 32, [&](int begin, int end, int) {
            matmul(w, begin, end, prepared.data(), n, y.data(), size_t(rows));
        });
        benchmark::ClobberMemory();
    }
    state.counters["GB/s"] =
        benchmark::Counter(double(w.bytes()) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["GFLOP/s"] =
        benchmark::Counter(2e-9 * n * double(rows) * kCols, benchmark::Counter::kIsIterationInvariantRate);
}

void vectors_and_threads(benchmark::internal::Benchmark* b) {
    b->ArgNames({"n", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
    for (int threads : {1, 2})
        for (int n : {1, 2, 4, 8, 128})
            b->Args({n, threads});
}

// A matrix that stays in the second-level cache shows the kernel alone.
BENCHMARK_CAPTURE(run_matmul, q4_1_resident, WeightType::q4_1, 512)->Apply(vectors_and_threads);
// All layers of SmolLM2-135M in one matrix of the same size, and its output matrix.
BENCHMARK_CAPTURE(run_matmul, q4_1_layers, WeightType::q4_1, 184320)->Apply(vectors_and_threads);
BENCHMARK_CAPTURE(run_matmul, q8_0_output, WeightType::q8_0, 49152)->Apply(vectors_and_threads);
BENCHMARK_CAPTURE(run_matmul, f16_output, WeightType::f16, 49152)->Apply(vectors_and_threads);

void run_prepare(benchmark::State& state) {
    const int n = int(state.range(0));
    const std::vector<float> x(kCols, 0.5f);
    std::vector<float> prepared(activation_floats(n, kCols));
    for (auto _ : state) {
        for (int i = 0; i < n; ++i)
            prepare_activation(x.data(), i, kCols, prepared.data());
        benchmark::ClobberMemory();
    }
}
BENCHMARK(run_prepare)->Name("prepare_activation")->ArgName("n")->Arg(1)->Arg(4);

}  // namespace
