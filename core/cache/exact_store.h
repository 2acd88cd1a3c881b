// SPDX-License-Identifier: GPL-3.0-or-later
// Exact tokens of one (layer, side): the tail of every scheme and the whole of an exact cache. Tokens leave at the
// front.
#pragma once

#include <memory>

#include "core/cache/store.h"

namespace kvasir {

class ExactStore : public TokenReader {
 public:
    virtual void clear() = 0;
    /// Moves the tokens into an allocation for `n_tokens` (or for those held, when more).
    virtual void set_capacity(int n_tokens) = 0;
    /// Room for n more tokens at the end; allocates only beyond the capacity.
    virtual void extend(int n) = 0;
    /// Stores one head's vector of token `index`. Different (kv_head, index) from different threads.
    virtual void put(int kv_head, int index, const float* x) = 0;
    virtual void drop_front(int n) = 0;

    virtual void scores(int kv_head, const float* q, int n_queries, int begin, int end, float* out,
                        size_t out_stride) const = 0;
    virtual void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                              float* acc, size_t acc_stride) const = 0;

    virtual ByteLedger ledger() const = 0;
};

/// fp32 elements for Codec::fp32, fp16 for everything else; keys in blocks of 8 tokens, values in rows.
std::unique_ptr<ExactStore> make_exact_store(SideSpec::Codec codec, Side side, int n_kv_heads, int head_dim);

}  // namespace kvasir
