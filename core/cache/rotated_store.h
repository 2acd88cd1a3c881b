// SPDX-License-Identifier: GPL-3.0-or-later
// Exact values in a rotated space: what a rotation, a channel order or centring does by itself, without codes.
#pragma once

#include "core/cache/exact_store.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class RotatedStore final : public Store {
 public:
    RotatedStore(const SideSpec& side, const StoreShape& shape);

    int size() const override { return tokens_->size(); }
    void clear() override { tokens_->clear(); }
    Status append(const TokenReader& source, int n) override;
    /// Exact values stay what they are.
    Status requantize(const TokenReader& source, int n) override { return append(source, n); }
    void read(int kv_head, int begin, int end, float* out) const override { tokens_->read(kv_head, begin, end, out); }

    void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override {
        tokens_->scores(kv_head, prepared, n_queries, begin, end, out, out_stride);
    }
    void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                      size_t acc_stride) const override {
        tokens_->weighted_sum(kv_head, p, p_stride, n_queries, begin, end, acc, acc_stride);
    }
    void fetch(int kv_head, int token) const override { tokens_->fetch(kv_head, token); }

    /// There are no codes: leaves `out` without levels.
    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    StoredTensor stored() const override { return {}; }
    ByteLedger ledger() const override { return tokens_->ledger(); }

 private:
    SideSpec side_;
    int n_kv_heads_;
    Rotation rotation_;
    std::unique_ptr<ExactStore> tokens_;
};

}  // namespace kvasir
