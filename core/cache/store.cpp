// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/store.h"

#include <algorithm>

#include "core/cache/channel_group_store.h"
#include "core/cache/flat_store.h"
#include "core/cache/group_codec.h"
#include "core/cache/token_group_store.h"

namespace kvasir {

void scores_by_read(const TokenReader& x, int head_dim, int kv_head, const float* q, int n_queries, int begin, int end,
                    float* out, size_t out_stride) {
    thread_local std::vector<float> row;
    row.resize(size_t(head_dim));
    for (int t = begin; t < end; ++t) {
        x.read(kv_head, t, t + 1, row.data());
        for (int h = 0; h < n_queries; ++h) {
            double sum = 0;
            for (int d = 0; d < head_dim; ++d)
                sum += double(q[size_t(h) * head_dim + d]) * row[d];
            out[h * out_stride + (t - begin)] = float(sum);
        }
    }
}

void weighted_sum_by_read(const TokenReader& x, int head_dim, int kv_head, const float* p, size_t p_stride,
                          int n_queries, int begin, int end, float* acc, size_t acc_stride) {
    thread_local std::vector<float> row;
    thread_local std::vector<double> sum;
    row.resize(size_t(head_dim));
    sum.assign(size_t(n_queries) * head_dim, 0.0);
    for (int t = begin; t < end; ++t) {
        x.read(kv_head, t, t + 1, row.data());
        for (int h = 0; h < n_queries; ++h) {
            const double weight = p[h * p_stride + (t - begin)];
            for (int d = 0; d < head_dim; ++d)
                sum[size_t(h) * head_dim + d] += weight * row[d];
        }
    }
    for (int h = 0; h < n_queries; ++h)
        for (int d = 0; d < head_dim; ++d)
            acc[h * acc_stride + d] += float(sum[size_t(h) * head_dim + d]);
}

size_t Store::query_floats(int n_queries) const {
    return size_t(n_queries) * head_dim_;
}

void Store::prepare_query(const float* q, int n_queries, float* prepared) const {
    std::copy(q, q + query_floats(n_queries), prepared);
}

void Store::scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                   size_t out_stride) const {
    scores_by_read(*this, head_dim_, kv_head, prepared, n_queries, begin, end, out, out_stride);
}

void Store::weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                         size_t acc_stride) const {
    weighted_sum_by_read(*this, head_dim_, kv_head, p, p_stride, n_queries, begin, end, acc, acc_stride);
}

bool fits_token_groups(const SideSpec& side, int head_dim) {
    const bool whole_words = side.bits != 3 && side.group * side.bits % 32 == 0;
    return side.axis == SideSpec::Axis::token && head_dim % side.group == 0 && whole_words;
}

std::unique_ptr<Store> make_store(const SideSpec& side, const StoreShape& shape) {
    if (side.axis == SideSpec::Axis::channel) return std::make_unique<ChannelGroupStore>(side, shape);
    if (fits_token_groups(side, shape.head_dim)) return std::make_unique<TokenGroupStore>(side, shape);
    return std::make_unique<FlatStore>(side, shape);
}

}  // namespace kvasir
