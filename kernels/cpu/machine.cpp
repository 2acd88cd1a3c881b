// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cpu/fetch_ahead.h"
#include "kernels/cpu/huge_arena.h"
#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/machine.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/simd8-inl.h"

#if defined(__linux__)
#include <sched.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Reads [p, p + n) once; n % 64 == 0. The result depends on every word, so nothing can be left out.
float ReadAll(const float* p, size_t n) {
    F8 s[4] = {zero8(), zero8(), zero8(), zero8()};
    FetchAhead ahead(p, 1024);
    for (size_t i = 0; i < n; i += 32) {
        ahead.next(32 * sizeof(float));
        for (size_t k = 0; k < 4; ++k)
            s[k] = Max(s[k], load8(p + i + 8 * k));
    }
    return sum8(Max(Max(s[0], s[1]), Max(s[2], s[3])));
}

constexpr int kChains = 12;  // more than latency times rate of any target

/// n rounds of kChains multiply-adds on 8 lanes, values staying near 1.
float MultiplyAdd(int n, float start) {
    const F8 factor = set8(0.999f), addend = set8(0.001f);
    F8 chain[kChains];
    for (int k = 0; k < kChains; ++k)
        chain[k] = set8(start + float(k));
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < kChains; ++k)
            chain[k] = MulAdd(chain[k], factor, addend);
    F8 sum = chain[0];
    for (int k = 1; k < kChains; ++k)
        sum = Add(sum, chain[k]);
    return sum8(sum);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(ReadAll);
HWY_EXPORT(MultiplyAdd);

namespace {

constexpr int kTries = 9;

volatile float measured_sink;  // keeps the results of measured work alive

/// Best rate of `amount` per call of run(), per nanosecond.
template <class F>
double best_rate(double amount, F&& run) {
    using Clock = std::chrono::steady_clock;
    run();  // touches memory, wakes threads, lets the clock rise
    double best = 0;
    for (int i = 0; i < kTries; ++i) {
        const auto start = Clock::now();
        run();
        const std::chrono::duration<double, std::nano> time = Clock::now() - start;
        best = std::max(best, amount / time.count());
    }
    return best;
}

}  // namespace

double measure_read_bandwidth(ThreadPool& pool) {
    constexpr size_t kBytes = size_t(256) << 20;
    constexpr size_t kPiece = size_t(1) << 20;
    constexpr int kPieces = int(kBytes / kPiece);
    uint8_t* const buffer = map_huge(kBytes);
    if (!buffer) return 0;
    const auto piece = [&](int i) { return reinterpret_cast<float*>(buffer + size_t(i) * kPiece); };
    // Written, so that every page is its own memory and not the one page of zeros.
    pool.for_each(kPieces, 1, [&](int i, int) { std::memset(piece(i), 1, kPiece); });
    std::vector<float> results(kPieces);
    const double rate = best_rate(double(kBytes), [&] {
        pool.for_each(kPieces, 1, [&](int i, int) {
            results[size_t(i)] = HWY_DYNAMIC_DISPATCH(ReadAll)(piece(i), kPiece / sizeof(float));
        });
    });
    measured_sink = results[0];
    unmap_huge(buffer, kBytes);
    return rate;
}

double measure_fma_rate(ThreadPool& pool) {
    constexpr int kRounds = 200000;
    const int items = 8 * pool.size();
    std::vector<float> results(size_t(items), 1.0f);
    const double rate = best_rate(2.0 * 8 * HWY_NAMESPACE::kChains * double(kRounds) * items, [&] {
        pool.for_each(items, 1, [&](int i, int) {
            results[size_t(i)] = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(kRounds, results[size_t(i)] * 0.001f);
        });
    });
    measured_sink = results[0];
    return rate;
}

int physical_cores() {
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return threads;
    // Hardware threads of one core list the same siblings.
    std::set<std::string> cores;
    threads = std::max(1, CPU_COUNT(&allowed));
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
        std::string siblings;
        if (!std::getline(file, siblings)) return threads;
        cores.insert(siblings);
    }
    return std::max<int>(1, int(cores.size()));
#else
    return threads;
#endif
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
