// SPDX-License-Identifier: GPL-3.0-or-later
// The heavy picture behind the distribution view: built only when someone looks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/measure/statistics.h"

namespace kvasir {

struct DistributionRequest {
    int lane = 0, layer = 0, kv_head = -1;  ///< kv_head -1: all heads together
    Side side = Side::v;
    int n_bins = 96;
    friend bool operator==(const DistributionRequest&, const DistributionRequest&) = default;
};

/// Values of the reference lane's cache (exact fp16) before and after the rotation of the lane's scheme, on the same
/// bins, with what the lane's scheme makes of them.
struct DistributionFrame {
    DistributionRequest request;
    uint64_t serial = 0;
    int n_tokens = 0;          ///< tokens in the picture
    int n_quantized = 0;       ///< of them in quantized storage in this lane
    bool rotated = false;      ///< does this side of the scheme rotate
    double low = 0, high = 0;  ///< range of the bins, same for all histograms
    std::vector<uint32_t> before, after,
        decoded;  ///< counts: exact, exact rotated, dequantized (in the space of `after`)
    ValueStatistics before_stats, after_stats;
    double mse = 0, sqnr_db = 0;  ///< lane against the reference values, in the space of `after`, quantized tokens only
    /// Quantization levels of the newest quantized token's group in the middle of the head: value of every code.
    std::vector<double> levels;
    int level_token = -1;
    std::vector<double> channel_low, channel_high;  ///< per channel range of `before` (head_dim)
};

/// Builds the picture from a lane's cache and the reference's. Not for concurrent use with appending.
DistributionFrame build_distribution(const DistributionRequest& request, const KvCache& lane, const KvCache& reference);

}  // namespace kvasir
