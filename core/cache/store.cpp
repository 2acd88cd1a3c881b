// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/store.h"

#include <algorithm>

#include "core/cache/centred_store.h"
#include "core/cache/channel_group_store.h"
#include "core/cache/flat_store.h"
#include "core/cache/group_codec.h"
#include "core/cache/rotated_reader.h"
#include "core/cache/rotated_store.h"
#include "core/cache/row_store.h"
#include "core/cache/token_group_store.h"

namespace kvasir {

void TokenReader::fetch(int, int) const {}

size_t padded_query_floats(int head_dim, int n_queries) {
    return size_t(n_queries) * size_t(kernels::padded_channels(head_dim));
}

void pad_queries(const float* q, int n_queries, int head_dim, float* padded) {
    const int width = kernels::padded_channels(head_dim);
    if (width == head_dim) {
        std::copy_n(q, size_t(n_queries) * size_t(head_dim), padded);
        return;
    }
    for (int h = 0; h < n_queries; ++h, q += head_dim, padded += width) {
        std::copy_n(q, head_dim, padded);
        std::fill_n(padded + head_dim, width - head_dim, 0.0f);
    }
}

void scores_by_read(const TokenReader& x, int head_dim, int kv_head, const float* q, int n_queries, int begin, int end,
                    float* out, size_t out_stride) {
    thread_local std::vector<float> row;
    row.resize(size_t(head_dim));
    const size_t width = size_t(kernels::padded_channels(head_dim));
    for (int t = begin; t < end; ++t) {
        x.read(kv_head, t, t + 1, row.data());
        for (int h = 0; h < n_queries; ++h) {
            double sum = 0;
            for (int d = 0; d < head_dim; ++d)
                sum += double(q[size_t(h) * width + size_t(d)]) * row[d];
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
    return padded_query_floats(head_dim_, n_queries);
}

void Store::prepare_query(const float* q, int n_queries, float* prepared) const {
    pad_queries(q, n_queries, head_dim_, prepared);
}

void Store::scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                   size_t out_stride) const {
    scores_by_read(*this, head_dim_, kv_head, prepared, n_queries, begin, end, out, out_stride);
}

void Store::weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                         size_t acc_stride) const {
    weighted_sum_by_read(*this, head_dim_, kv_head, p, p_stride, n_queries, begin, end, acc, acc_stride);
}

namespace {

/// Whole 32-bit words of codes that the fused kernels know how to read.
bool has_kernel_bits(const SideSpec& side, int group) {
    const bool power_of_two = side.bits == 1 || side.bits == 2 || side.bits == 4 || side.bits == 8;
    return power_of_two && group * side.bits % 32 == 0;
}

}  // namespace

Layout layout_of(const SideSpec& spec, int head_dim) {
    if (spec.exact()) return Layout::rotated;
    const SideSpec side = group_at(spec, head_dim);
    const auto codec = make_codec(side);
    const bool has_kernel = codec->form() && !reads_back_plain(side);
    if (side.axis == SideSpec::Axis::channel) {
        const bool blocks = has_kernel && has_kernel_bits(side, head_dim) && constants_per_group(side) == 2 &&
                            head_dim == kernels::padded_channels(head_dim);
        return blocks ? Layout::channel_blocks : Layout::rows;
    }
    if (side.axis != SideSpec::Axis::token || head_dim % side.group != 0) return Layout::flat;
    if (has_kernel && has_kernel_bits(side, side.group)) return Layout::token_blocks;
    return codec->needs_whole_tensor() ? Layout::flat : Layout::rows;
}

std::unique_ptr<Store> make_store(const SideSpec& spec, const StoreShape& shape) {
    const SideSpec side = group_at(spec, shape.head_dim);
    std::unique_ptr<Store> store;
    switch (layout_of(spec, shape.head_dim)) {
        case Layout::rotated:
            store = std::make_unique<RotatedStore>(side, shape);
            break;
        case Layout::token_blocks:
            store = std::make_unique<TokenGroupStore>(side, shape);
            break;
        case Layout::channel_blocks:
            store = std::make_unique<ChannelGroupStore>(side, shape);
            break;
        case Layout::rows:
            store = std::make_unique<RowStore>(side, shape);
            break;
        case Layout::flat:
            store = std::make_unique<FlatStore>(side, shape);
            break;
    }
    if (side.centre) store = std::make_unique<CentredStore>(std::move(store), side, shape);
    return store;
}

}  // namespace kvasir
