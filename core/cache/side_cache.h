// SPDX-License-Identifier: GPL-3.0-or-later
// One (layer, side) of a cache: quantized leading tokens, exact tail, and the rule that moves tokens between them.
#pragma once

#include <memory>

#include "core/cache/exact_store.h"
#include "core/cache/store.h"

namespace kvasir {

class SideCache final : public TokenReader {
 public:
    SideCache(const CacheSpec& spec, Side side, const CacheShape& shape);

    void begin_prompt(int n_tokens);
    Status finish_prompt();
    void extend(int n) { tail_->extend(n); }
    void put(int kv_head, int position, const float* x) { tail_->put(kv_head, position - n_quantized(), x); }
    /// The flush rule after one step's attention.
    Status settle();

    int size() const override { return n_quantized() + tail_->size(); }
    int n_quantized() const { return store_ ? store_->size() : 0; }
    void read(int kv_head, int begin, int end, float* out) const override;

    /// Null for exact sides.
    const Store* store() const { return store_.get(); }
    const ExactStore& tail() const { return *tail_; }
    ByteLedger ledger() const;

 private:
    Status quantize_front(int n);
    Status requantize_all();

    FlushRule rule_;
    int residual_, tail_capacity_;
    int head_dim_;
    bool lossless_single_group_;  ///< Quanto axis 0: a tensor of one group is stored differently by the original
    int elements_per_token_, group_;
    int settled_tail_ = 0;  ///< exact tokens at the end of the previous step
    std::unique_ptr<Store> store_;
    std::unique_ptr<ExactStore> tail_;
};

}  // namespace kvasir
