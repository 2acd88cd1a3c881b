// SPDX-License-Identifier: GPL-3.0-or-later
// One (layer, side) of a cache: exact sink, quantized tokens, exact tail, and the rule that moves tokens from the tail
// into quantized storage.
#pragma once

#include <memory>

#include "core/cache/exact_store.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class SideCache final : public TokenReader {
 public:
    SideCache(const CacheSpec& spec, Side side, const CacheShape& shape);

    void begin_prompt(int n_tokens);
    Status finish_prompt();
    void extend(int n);
    void put(int kv_head, int position, const float* x);
    /// Before a step's attention: tokens that are quantized as they are written, and the flush rule where it comes
    /// first.
    Status commit();
    /// After a step's attention: the flush rule.
    Status end_step();

    int size() const override { return n_sink() + n_quantized() + tail_->size(); }
    int n_sink() const { return sink_ ? sink_->size() : 0; }
    int n_quantized() const { return store_ ? store_->size() : 0; }
    void read(int kv_head, int begin, int end, float* out) const override;

    /// Null for plain sides.
    const Store* store() const { return store_.get(); }
    /// Null without attention sinks.
    const ExactStore* sink() const { return sink_.get(); }
    /// What lies between plain vectors and those that store() speaks of.
    const Rotation& rotation() const { return rotation_; }
    const ExactStore& tail() const { return *tail_; }
    ByteLedger ledger() const;

 private:
    Status flush();
    Status quantize_front(int n);
    Status requantize_all();

    FlushRule rule_;
    bool flush_first_, in_prompt_ = false;
    int residual_, tail_capacity_, sink_limit_;
    int head_dim_;
    bool lossless_single_group_;  ///< Quanto axis 0: a tensor of one group is stored differently by the original
    int elements_per_token_, group_;
    int tail_before_ = 0;  ///< exact tokens at the end of the previous step
    std::unique_ptr<Store> store_;
    std::unique_ptr<ExactStore> tail_, sink_;
    Rotation rotation_;
};

}  // namespace kvasir
