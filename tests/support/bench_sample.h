// SPDX-License-Identifier: GPL-3.0-or-later
// Documents as `kvasir-cli bench --json` writes them, with round numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvasir::test {

/// One lane of `spec`: 1 s over `rate` per step, 100 MiB of weights, `kib_per_token` KiB of cache a token, 1e8
/// multiply-adds a step; `lanes` times the cache and the work with more lanes.
inline nlohmann::json bench_row(const std::string& spec, int depth, int lanes, double rate, double kib_per_token) {
    std::string names = spec;
    for (int lane = 1; lane < lanes; ++lane)
        names += " | " + spec;
    const double cached = depth + 11;
    return {{"spec", names},
            {"depth", depth},
            {"lanes", lanes},
            {"prefill_tokens_per_second", 200.0},
            {"decode_tokens_per_second", {{"median", rate}, {"min", rate * 0.9}, {"max", rate * 1.1}}},
            {"weight_bytes", 100 << 20},
            {"cache_bytes", uint64_t(lanes * cached * kib_per_token * 1024)},
            {"bytes_per_token", kib_per_token * 1024},
            {"multiply_adds_per_step", 100000000 * lanes},
            {"memory_limit_tokens_per_second", 100.0},
            {"share_of_memory_limit", rate / 100},
            {"roofline_tokens_per_second", 90.0 - depth / 100.0},
            {"share_of_roofline", rate / 90},
            {"time_split",
             {{"matmul", 8e6},
              {"quantize", 1e6},
              {"scores", 2e6},
              {"softmax", 0.5e6},
              {"weighted_sum", 2e6},
              {"rotate", 0.0},
              {"other", 0.25e6}}}};
}

/// Every spec with one lane at every depth, and the first one with more lanes at the first depth.
inline nlohmann::json bench_sample(const std::string& weights, const std::vector<std::string>& specs,
                                   const std::vector<int>& depths, const std::vector<int>& lanes) {
    nlohmann::json rows = nlohmann::json::array();
    for (const int depth : depths)
        for (size_t i = 0; i < specs.size(); ++i)
            rows.push_back(bench_row(specs[i], depth, 1, 50.0 + 5 * double(i) - depth / 100.0, i == 0 ? 22.5 : 7.5));
    for (const int n : lanes)
        rows.push_back(bench_row(specs.front(), depths.front(), n, 50.0 / n, 22.5));
    return {{"kvasir", {{"version", "9.8.7"}, {"build", "Release"}, {"kernels", "fused, AVX2"}}},
            {"model",
             {{"file", "/models/Sample-1M." + weights + ".gguf"}, {"weights", weights}, {"weights_as_run", weights}}},
            {"machine", {{"threads", 2}, {"memory_bandwidth_gbps", 10.0}, {"fma_gflops", 40.0}, {"simd", "AVX2"}}},
            {"results", rows}};
}

}  // namespace kvasir::test
