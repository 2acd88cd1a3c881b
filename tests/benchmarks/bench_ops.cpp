// SPDX-License-Identifier: GPL-3.0-or-later
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/thread_pool.h"

namespace {

using namespace kvasir::kernels;

void run_hadamard(benchmark::State& state) {
    const int n = int(state.range(0));
    std::vector<float> x(size_t(n), 1e-3f);
    for (auto _ : state) {
        hadamard(x.data(), n);
        benchmark::DoNotOptimize(x.data());
        benchmark::ClobberMemory();
    }
}
BENCHMARK(run_hadamard)->Name("hadamard")->Arg(64)->Arg(128);

void run_softmax(benchmark::State& state) {
    const int n = int(state.range(0));
    std::vector<float> x(size_t(n), 0.5f);
    float sum;
    for (auto _ : state) {
        benchmark::DoNotOptimize(exp_minus_max(x.data(), n, &sum));
        benchmark::ClobberMemory();
    }
    state.counters["ns"] =
        benchmark::Counter(1e-9 * n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(run_softmax)->Name("softmax")->Arg(256)->Arg(4096);

void run_divergence(benchmark::State& state) {
    constexpr int n = 49152;
    const std::vector<float> a(n, 0.5f), b(n, 0.25f);
    const double lse_a = log_sum_exp(a.data(), n), lse_b = log_sum_exp(b.data(), n);
    for (auto _ : state)
        benchmark::DoNotOptimize(kl_divergence(a.data(), lse_a, b.data(), lse_b, n));
}
BENCHMARK(run_divergence)->Name("kl_divergence_49152")->Unit(benchmark::kMicrosecond);

void run_log_sum_exp(benchmark::State& state) {
    const std::vector<float> a(49152, 0.5f);
    for (auto _ : state)
        benchmark::DoNotOptimize(log_sum_exp(a.data(), int(a.size())));
}
BENCHMARK(run_log_sum_exp)->Name("log_sum_exp_49152")->Unit(benchmark::kMicrosecond);

void run_region(benchmark::State& state) {
    ThreadPool pool{int(state.range(0))};
    for (auto _ : state)
        pool.for_each(int(state.range(0)), 1, [](int, int) {});
}
BENCHMARK(run_region)->Name("empty_region")->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
