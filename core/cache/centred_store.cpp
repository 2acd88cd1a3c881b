// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/centred_store.h"

#include "core/cache/rotated_reader.h"
#include "kernels/codec/half.h"

namespace kvasir {
namespace {

class Difference final : public TokenReader {
 public:
    Difference(const TokenReader& source, const std::vector<float>& mean, int head_dim)
        : source_(source), mean_(mean), head_dim_(head_dim) {}
    int size() const override { return source_.size(); }
    void read(int kv_head, int begin, int end, float* out) const override {
        source_.read(kv_head, begin, end, out);
        for (int t = begin; t < end; ++t)
            for (int d = 0; d < head_dim_; ++d, ++out)
                *out -= mean_[size_t(kv_head) * head_dim_ + d];
    }

 private:
    const TokenReader& source_;
    const std::vector<float>& mean_;
    int head_dim_;
};

}  // namespace

CentredStore::CentredStore(std::unique_ptr<Store> inner, const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      n_kv_heads_(shape.n_kv_heads),
      inner_(std::move(inner)),
      mean_(size_t(shape.n_kv_heads) * shape.head_dim),
      rotated_(mean_.size()) {
    if (!reads_back_plain(side)) rotation_ = Rotation(side, shape.which, shape.head_dim);
}

void CentredStore::take_mean(const TokenReader& source, int n) {
    std::vector<float> row(static_cast<size_t>(head_dim_));
    for (int h = 0; h < n_kv_heads_; ++h) {
        std::vector<double> sum(static_cast<size_t>(head_dim_));
        for (int t = 0; t < n; ++t) {
            source.read(h, t, t + 1, row.data());
            for (int d = 0; d < head_dim_; ++d)
                sum[d] += row[d];
        }
        float* mean = mean_.data() + size_t(h) * head_dim_;
        float* rotated = rotated_.data() + size_t(h) * head_dim_;
        for (int d = 0; d < head_dim_; ++d)
            mean[d] = rotated[d] = kernels::round_to_half(float(sum[d] / n));
        if (!rotation_.identity()) rotation_.forward(rotated);
    }
}

Status CentredStore::append(const TokenReader& source, int n) {
    if (inner_->size() == 0) take_mean(source, n);
    return inner_->append(Difference(source, mean_, head_dim_), n);
}

Status CentredStore::requantize(const TokenReader& source, int n) {
    if (inner_->size() == 0) take_mean(source, n);
    return inner_->requantize(Difference(source, mean_, head_dim_), n);
}

void CentredStore::read(int kv_head, int begin, int end, float* out) const {
    inner_->read(kv_head, begin, end, out);
    for (int t = begin; t < end; ++t)
        for (int d = 0; d < head_dim_; ++d, ++out)
            *out += rotated_[size_t(kv_head) * head_dim_ + d];
}

size_t CentredStore::query_floats(int n_queries) const {
    return padded_query_floats(head_dim_, n_queries) + inner_->query_floats(n_queries);
}

void CentredStore::prepare_query(const float* q, int n_queries, float* prepared) const {
    pad_queries(q, n_queries, head_dim_, prepared);
    inner_->prepare_query(q, n_queries, prepared + padded_query_floats(head_dim_, n_queries));
}

void CentredStore::scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                          size_t out_stride) const {
    const size_t width = padded_query_floats(head_dim_, 1);
    inner_->scores(kv_head, prepared + size_t(n_queries) * width, n_queries, begin, end, out, out_stride);
    const float* mean = rotated_.data() + size_t(kv_head) * head_dim_;
    for (int h = 0; h < n_queries; ++h) {
        double constant = 0;
        for (int d = 0; d < head_dim_; ++d)
            constant += double(prepared[size_t(h) * width + size_t(d)]) * mean[d];
        for (int t = 0; t < end - begin; ++t)
            out[size_t(h) * out_stride + size_t(t)] += float(constant);
    }
}

void CentredStore::codes_at(int kv_head, int token, KvCache::GroupView& out) const {
    inner_->codes_at(kv_head, token, out);
    const float* mean = rotated_.data() + size_t(kv_head) * head_dim_;
    for (int d = 0; d < head_dim_; ++d)
        out.offset[d] += mean[d];
    for (float& level : out.levels)
        level += mean[head_dim_ / 2];
}

ByteLedger CentredStore::ledger() const {
    ByteLedger bytes = inner_->ledger();
    if (inner_->size() > 0) bytes.zeros += 2 * mean_.size();
    return bytes;
}

}  // namespace kvasir
