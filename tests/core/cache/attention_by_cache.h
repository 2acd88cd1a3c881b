// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/cache/rotated_reader.h"

namespace kvasir::test {

/// Attention of one query token over everything in layer 0: q (n_heads, head_dim) unscaled -> (n_heads, head_dim),
/// through the calls and the ranges of 256 tokens that the model uses. Softmax in double.
inline std::vector<float> attention(const KvCache& cache, const std::vector<float>& q, int n_heads) {
    const int head_dim = cache.shape().head_dim, n_kv = cache.shape().n_kv_heads, group = n_heads / n_kv;
    const int n = cache.n_tokens(0), range = 256;
    std::vector<float> out(q.size()), scaled(size_t(group) * head_dim), prepared(cache.query_floats(group));
    std::vector<float> p(size_t(group) * n);
    for (int kv = 0; kv < n_kv; ++kv) {
        const size_t first = size_t(kv) * group * head_dim;
        for (size_t i = 0; i < scaled.size(); ++i)
            scaled[i] = float(q[first + i] / std::sqrt(double(head_dim)));
        cache.prepare_query(0, scaled.data(), group, prepared.data());
        for (int t = 0; t < n; t += range)
            cache.scores(0, kv, prepared.data(), group, t, std::min(t + range, n), p.data() + t, size_t(n));
        for (int h = 0; h < group; ++h) {
            float* row = p.data() + size_t(h) * n;
            const double top = *std::max_element(row, row + n);
            double sum = 0;
            for (int t = 0; t < n; ++t)
                sum += std::exp(row[t] - top);
            for (int t = 0; t < n; ++t)
                row[t] = float(std::exp(row[t] - top) / sum);
        }
        std::vector<float> acc(cache.sum_floats(group));
        for (int t = 0; t < n; t += range)
            cache.weighted_sum(0, kv, p.data() + t, size_t(n), group, t, std::min(t + range, n), acc.data());
        cache.finish_output(0, acc.data(), group, out.data() + first);
    }
    return out;
}

/// Between plain vectors and those that read() gives for quantized tokens.
inline Rotation rotation_of(const KvCache& cache, Side side) {
    const SideSpec& scheme = cache.spec().side(side);
    return reads_back_plain(scheme) ? Rotation() : Rotation(scheme, side, cache.shape().head_dim);
}

/// What the fused kernels are to compute, in double precision: the same attention over scale * code + offset, without
/// the fp16 roundings of read(), with the turning of quantized values undone at the end.
inline std::vector<double> affine_attention(const KvCache& cache, const std::vector<float>& q, int n_heads) {
    const int head_dim = cache.shape().head_dim, n_kv = cache.shape().n_kv_heads, group = n_heads / n_kv;
    const int n = cache.n_tokens(0);
    const auto rows = [&](int kv, Side side) {
        std::vector<float> values(size_t(n) * head_dim);
        cache.read(0, kv, side, 0, n, values.data());
        const Rotation rotation = rotation_of(cache, side);
        for (int t = 0; t < n; ++t) {
            KvCache::GroupView view;
            if (!cache.codes_at(0, kv, side, t, &view)) continue;
            float* row = values.data() + size_t(t) * head_dim;
            for (size_t d = 0; d < size_t(head_dim) && view.on_a_line; ++d)
                row[d] = view.scale[d] * float(view.codes[d]) + view.offset[d];
            if (side == Side::k) rotation.inverse(row);
        }
        return values;
    };
    std::vector<double> out(q.size());
    for (int h = 0; h < n_heads; ++h) {
        const std::vector<float> k = rows(h / group, Side::k), v = rows(h / group, Side::v);
        std::vector<double> p(static_cast<size_t>(n));
        for (int t = 0; t < n; ++t) {
            for (int d = 0; d < head_dim; ++d)
                p[t] += double(q[size_t(h) * head_dim + d]) * k[size_t(t) * head_dim + d];
            p[t] /= std::sqrt(double(head_dim));
        }
        const double top = *std::max_element(p.begin(), p.end());
        double sum = 0;
        for (double& x : p)
            sum += x = std::exp(x - top);
        double* to = out.data() + size_t(h) * head_dim;
        const Rotation rotation = rotation_of(cache, Side::v);
        const int rotated = rotation.identity() ? 0 : cache.n_quantized(0, Side::v);
        std::vector<float> acc(static_cast<size_t>(head_dim));
        std::vector<double> sum_of(static_cast<size_t>(head_dim));
        for (int t = 0; t < n; ++t)
            for (int d = 0; d < head_dim; ++d)
                (t < rotated ? sum_of[d] : to[d]) += p[t] / sum * v[size_t(t) * head_dim + d];
        for (int d = 0; d < head_dim; ++d)
            acc[size_t(d)] = float(sum_of[size_t(d)]);
        rotation.inverse(acc.data());
        for (int d = 0; d < head_dim && rotated > 0; ++d)
            to[d] += acc[size_t(d)];
    }
    return out;
}

}  // namespace kvasir::test
