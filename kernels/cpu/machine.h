// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine can do at most, measured: the ceilings that `bench` compares with.
#pragma once

#include "kernels/cpu/thread_pool.h"

namespace kvasir::kernels {

/// Best read bandwidth over a buffer far larger than the caches, GB/s (1e9 bytes), all threads of the pool, several
/// tries.
double measure_read_bandwidth(ThreadPool& pool);

/// fp32 fused multiply-add rate, GFLOP/s (2 per multiply-add), all threads of the pool.
double measure_fma_rate(ThreadPool& pool);

/// Physical cores this process may use (at least 1).
int physical_cores();

}  // namespace kvasir::kernels
