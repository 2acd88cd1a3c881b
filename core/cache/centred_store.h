// SPDX-License-Identifier: GPL-3.0-or-later
// Keys without their channel mean. The mean of the first tokens stored is kept as fp16 for good; what is coded is the
// difference. q.(k - mean) + q.mean gives the score of the plain key, so exact and quantized tokens mix; within the
// quantized ones softmax would not see the constant anyway.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class CentredStore final : public Store {
 public:
    CentredStore(std::unique_ptr<Store> inner, const SideSpec& side, const StoreShape& shape);

    int size() const override { return inner_->size(); }
    void clear() override { inner_->clear(); }
    Status append(const TokenReader& source, int n) override;
    Status requantize(const TokenReader& source, int n) override;
    void expect_requantize() override { inner_->expect_requantize(); }
    void read(int kv_head, int begin, int end, float* out) const override;

    size_t query_floats(int n_queries) const override;
    void prepare_query(const float* q, int n_queries, float* prepared) const override;
    void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override;

    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    StoredTensor stored() const override { return inner_->stored(); }
    /// The means count as zero points.
    ByteLedger ledger() const override;

 private:
    void take_mean(const TokenReader& source, int n);

    int n_kv_heads_;
    std::unique_ptr<Store> inner_;
    Rotation rotation_;
    std::vector<float> mean_;     ///< (n_kv_heads, head_dim), fp16 values, plain space
    std::vector<float> rotated_;  ///< the same in the stored space
};

}  // namespace kvasir
