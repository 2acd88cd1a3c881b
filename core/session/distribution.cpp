// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/distribution.h"

#include <algorithm>
#include <cmath>

#include "core/cache/rotation.h"

namespace kvasir {
namespace {

/// Levels of the group in the middle of the newest quantized token: the value of every code.
void add_levels(const KvCache& lane, int layer, int kv_head, Side side, DistributionFrame& frame) {
    KvCache::GroupView group;
    for (int token = frame.n_tokens - 1; token >= 0; --token) {
        if (!lane.codes_at(layer, kv_head, side, token, &group)) continue;
        frame.levels.assign(group.levels.begin(), group.levels.end());
        frame.level_token = token;
        return;
    }
}

}  // namespace

DistributionFrame build_distribution(const DistributionRequest& request, const KvCache& lane,
                                     const KvCache& reference) {
    DistributionFrame f;
    f.request = request;
    const CacheShape& shape = lane.shape();
    const SideSpec side = lane.spec().at_layer(request.layer).side(request.side);
    const int dim = shape.head_dim;
    f.rotated = side.rotates();
    f.n_tokens = std::min(lane.n_tokens(request.layer), reference.n_tokens(request.layer));
    f.n_quantized =
        std::min(lane.n_quantized(request.layer, request.side), f.n_tokens - lane.n_sink(request.layer, request.side));
    const int first = std::max(request.kv_head, 0), last = request.kv_head < 0 ? shape.n_kv_heads - 1 : request.kv_head;

    const size_t per_head = size_t(f.n_tokens) * size_t(dim);
    std::vector<float> before(per_head * size_t(last - first + 1)), after, decoded;
    for (int h = first; h <= last; ++h)
        reference.read_unrotated(request.layer, h, request.side, 0, f.n_tokens,
                                 before.data() + per_head * size_t(h - first));
    after = before;
    const Rotation rotation(side, request.side, dim);
    if (f.rotated)
        for (size_t at = 0; at + size_t(dim) <= after.size(); at += size_t(dim))
            rotation.forward(after.data() + at);

    // What the lane's quantized tokens became, in the space they are stored in, against the same tokens of the
    // reference.
    double error = 0, power = 0;
    std::vector<float> row(size_t(f.n_quantized) * size_t(dim));
    for (int h = first; h <= last && f.n_quantized > 0; ++h) {
        const int sink = lane.n_sink(request.layer, request.side);
        lane.read_unrotated(request.layer, h, request.side, sink, sink + f.n_quantized, row.data());
        for (size_t at = 0; f.rotated && at < row.size(); at += size_t(dim))
            rotation.forward(row.data() + at);
        const float* exact = after.data() + per_head * size_t(h - first) + size_t(sink) * size_t(dim);
        for (size_t i = 0; i < row.size(); ++i) {
            const double e = double(row[i]) - exact[i];
            error += e * e, power += double(exact[i]) * exact[i];
        }
        decoded.insert(decoded.end(), row.begin(), row.end());
    }
    if (!decoded.empty()) {
        f.mse = error / double(decoded.size());
        f.sqnr_db = error > 0 ? 10 * std::log10(power / error) : 0;
    }

    f.before_stats = value_statistics(before);
    f.after_stats = value_statistics(after);
    for (const auto* values : {&before, &after, &decoded})
        for (const float v : *values)
            if (std::isfinite(v)) f.low = std::min(f.low, double(v)), f.high = std::max(f.high, double(v));
    f.before = histogram(before, f.low, f.high, request.n_bins);
    f.after = histogram(after, f.low, f.high, request.n_bins);
    f.decoded = histogram(decoded, f.low, f.high, request.n_bins);

    f.channel_low.assign(size_t(dim), 0), f.channel_high.assign(size_t(dim), 0);
    for (size_t i = 0; i < before.size(); ++i) {
        const size_t d = i % size_t(dim);
        if (i < size_t(dim)) f.channel_low[d] = f.channel_high[d] = before[i];
        f.channel_low[d] = std::min(f.channel_low[d], double(before[i]));
        f.channel_high[d] = std::max(f.channel_high[d], double(before[i]));
    }
    if (f.n_quantized > 0 && !side.exact()) add_levels(lane, request.layer, (first + last) / 2, request.side, f);
    return f;
}

}  // namespace kvasir
