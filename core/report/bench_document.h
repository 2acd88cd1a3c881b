// SPDX-License-Identifier: GPL-3.0-or-later
// What `kvasir-cli bench --json` wrote, read back for figures. Nothing is guessed: a document that lacks a key is
// refused with the file, the row and the key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time_split.h"

namespace kvasir {

/// One row of a document: some lanes at one depth, decoded in lock-step.
struct BenchMeasurement {
    std::string spec;  ///< of one lane; "a + b" where the lanes had several
    int depth = 0;     ///< tokens in the cache before the first step
    int lanes = 1;
    double median = 0, min = 0, max = 0;       ///< steps per second; a step is one token of every lane
    double roofline = 0;                       ///< steps per second
    double weight_bytes = 0, cache_bytes = 0;  ///< read by a step, the caches of all lanes
    double multiply_adds = 0;                  ///< of a step
    double n_cached = 0;                       ///< tokens in each cache when cache_bytes were counted
    TimeSplit split;                           ///< ns per step

    double bytes() const { return weight_bytes + cache_bytes; }
    /// FLOP per byte; a multiply-add is two FLOP.
    double intensity() const { return 2 * multiply_adds / bytes(); }
    /// 10^9 FLOP per second.
    double gflops() const { return 2 * multiply_adds * median / 1e9; }
};

struct BenchDocument {
    std::string file;  ///< it was read from
    std::string model_file;
    std::string file_weights, weights;  ///< in the file; as they were in memory
    std::string version, kernels;       ///< of the program that measured; kernels with the instruction set
    std::string date, commit;           ///< "" where the document does not say
    int threads = 0;
    double bandwidth_gbps = 0;           ///< memory reads, 10^9 bytes per second
    double fma_gflops = 0;               ///< fp32 multiply-adds, 10^9 FLOP per second
    std::vector<BenchMeasurement> rows;  ///< at least one
};

/// `file` is named in errors only.
Result<BenchDocument> parse_bench_document(std::string_view text, const std::string& file);
Result<BenchDocument> read_bench_document(const std::string& path);

}  // namespace kvasir
