// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/base/time_split.h"
#include "core/cache/kv_cache.h"
#include "core/model/forward.h"

namespace kvasir::cli {

struct Machine {
    double bandwidth_gbps = 0, fma_gflops = 0;
};

struct BenchRow {
    std::string spec;
    int depth = 0, lanes = 1, n_tokens = 0;
    int n_cached = 0;                            ///< tokens in each cache at the end of the measurement
    double prefill_rate = 0;                     ///< prompt tokens per second
    double median = 0, min = 0, max = 0;         ///< steps per second
    uint64_t weight_bytes = 0, cache_bytes = 0;  ///< read by a step at the end of the measurement
    uint64_t multiply_adds = 0;                  ///< of a step, all lanes, half-way through the measurement
    double memory_limit = 0, roofline = 0;       ///< steps per second
    TimeSplit split;                             ///< mean ns per step, all lanes together
};

class Bench {
 public:
    Bench(std::shared_ptr<const Model> model, int n_threads, KernelPath path);
    Machine measure_machine();

    /// With lanes = 1: one row per spec. With more: one row, lanes that take the specs in turn, decoded in lock-step.
    /// The caches are filled with `text`, repeated as often as needed, by one prompt pass that they share. At depth 0
    /// the prompt is one token.
    Result<std::vector<BenchRow>> at_depth(const std::vector<CacheSpec>& specs, int depth, int lanes, int n_tokens,
                                           const std::vector<int>& text, const Machine& machine,
                                           const Progress& progress);

 private:
    Result<double> fill(const std::vector<KvCache*>& caches, const std::vector<int>& prompt, const Progress& progress);
    Result<BenchRow> decode(const std::vector<KvCache*>& caches, int n_tokens, const std::vector<int>& text, int at);
    void add_limits(BenchRow& row, const Machine& machine) const;

    std::shared_ptr<const Model> model_;
    KernelPath path_;
    Forward forward_;
};

}  // namespace kvasir::cli
