// SPDX-License-Identifier: GPL-3.0-or-later
// Speed of the engine, measured next to what the machine allows.
#pragma once

#include <memory>
#include <span>
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

/// A prompt read into one empty cache, quantizing included.
struct PromptRow {
    std::string spec;
    std::string why;  ///< why it could not be measured; "" when it was
    int tokens = 0;
    double rate = 0;             ///< tokens per second, the best of three
    uint64_t multiply_adds = 0;  ///< of the whole prompt
    double share_of_fma(const Machine& machine) const {
        return 2 * double(multiply_adds) / tokens * rate / (machine.fma_gflops * 1e9);
    }
};

struct BenchRow {
    std::string spec;
    std::string why;  ///< why it could not be measured; "" when it was
    int depth = 0, lanes = 1, n_tokens = 0;
    int n_cached = 0;                            ///< tokens in each cache at the end of the measurement
    double prefill_rate = 0;                     ///< prompt tokens per second, in passes that the row's caches share
    double median = 0, min = 0, max = 0;         ///< steps per second
    uint64_t weight_bytes = 0, cache_bytes = 0;  ///< read by a step at the end of the measurement
    uint64_t multiply_adds = 0;                  ///< of a step, all lanes, half-way through the measurement
    TimeSplit split;                             ///< mean ns per step, all lanes together
    /// ns of storing a token, all layers: the median of the steps in which no block was flushed.
    double append = 0;
    double flush = 0;  ///< ns of storing in the slowest step that flushed a block; 0 when none did
    int n_flushes = 0;

    double memory_limit(const Machine& machine) const;  ///< steps per second
    /// Steps per second by the larger of bytes / bandwidth and multiply-adds / rate (two FLOP each).
    double roofline(const Machine& machine) const;
};

class Bench {
 public:
    Bench(std::shared_ptr<const Model> model, int n_threads, KernelPath path);

    /// Measures the ceilings again and keeps the best of all tries: what others do on the machine only lowers them.
    const Machine& measure_machine();
    const Machine& machine() const { return machine_; }

    /// An error when some depth does not fit into the context or the caches of some row do not fit into memory.
    Status check(const std::vector<CacheSpec>& specs, const std::vector<int>& depths, const std::vector<int>& lanes,
                 int n_tokens) const;

    Result<PromptRow> prompt(const CacheSpec& spec, int n_tokens, const std::vector<int>& text);

    /// With lanes = 1: one row per spec, which take turns at every step so that a disturbance meets all of them. With
    /// more: one row, lanes that take the specs in turn, decoded in lock-step. A row whose
    /// cache cannot be made, or stops, says why. The caches are filled with `text`,
    /// repeated as often as needed, by prompt passes that they share. At depth 0 the prompt is one token.
    Result<std::vector<BenchRow>> at_depth(const std::vector<CacheSpec>& specs, int depth, int lanes, int n_tokens,
                                           const std::vector<int>& text, const Progress& progress);

 private:
    struct Group;
    size_t n_caches(size_t n_specs, int lanes) const { return lanes > 1 ? size_t(lanes) : n_specs; }
    Result<double> fill(const std::vector<KvCache*>& caches, std::span<const int> prompt, const Progress& progress,
                        std::vector<Status>& stored);
    Status step(Group& group, int token);
    uint64_t layer_multiply_adds() const;                       ///< of one token in all layers, attention aside
    uint64_t attention_multiply_adds(double n_attended) const;  ///< of one token

    std::shared_ptr<const Model> model_;
    KernelPath path_;
    Forward forward_;
    Machine machine_;
};

}  // namespace kvasir::cli
