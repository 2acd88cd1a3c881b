// SPDX-License-Identifier: GPL-3.0-or-later
// The noise floor: the reference computed a second time with its sums in another order. Both are right to the last bit
// that fp32 can promise; what differs between them is what no comparison of caches can see.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/measure/divergence.h"
#include "core/model/forward.h"

namespace kvasir {

class SecondDraw {
 public:
    /// The same scheme as the reference, `sum_order` another one than the run's.
    static Result<std::unique_ptr<SecondDraw>> create(std::shared_ptr<const Model> model, const CacheSpec& reference,
                                                      const CacheShape& shape, KernelPath path, int n_threads,
                                                      int sum_order);

    Status read_prompt(const std::vector<int>& tokens, int chunk, const CancelCheck& cancelled);
    Status step(int token, const CancelCheck& cancelled);
    /// Of the next token.
    Prediction prediction() const { return predict({logits_.data(), n_vocab_}); }

 private:
    SecondDraw(std::shared_ptr<const Model> model, std::unique_ptr<KvCache> cache, int n_threads, int sum_order);

    std::unique_ptr<KvCache> cache_;
    Forward forward_;
    std::vector<float> logits_;
    size_t n_vocab_;
};

}  // namespace kvasir
