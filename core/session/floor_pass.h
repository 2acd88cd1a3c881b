// SPDX-License-Identifier: GPL-3.0-or-later
// The noise floor: the reference computed a second time with its sums in another order. Both are right to the last bit
// that fp32 can promise; what differs between them is what no comparison of caches can see.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/model/forward.h"
#include "core/session/step_record.h"

namespace kvasir {

/// Keeps the steps of the reference until a pass reads them together, as a prompt is read: that costs a fraction of
/// reading them one by one, and gives the same bits where the cache keeps what it is given. A reference that stores
/// anything else reads its storage as it is at each step, so it is drawn step by step.
class FloorPass {
 public:
    /// The same scheme as the reference, `sum_order` another one than the run's.
    static Result<std::unique_ptr<FloorPass>> create(std::shared_ptr<const Model> model, const CacheSpec& reference,
                                                     const CacheShape& shape, KernelPath path, int n_threads,
                                                     int sum_order);

    /// A step of the reference, in order: the token that came, the logits that predicted it (the first n_vocab) and
    /// what attention gave in each layer then, (n_layers, n_heads * head_dim) or nothing: no errors of the layers.
    void add(int step, int token, const std::vector<float>& logits, const std::vector<float>& outputs);
    /// As many steps wait as one pass reads.
    bool due() const { return waiting_.size() >= rows_per_pass_; }
    bool empty() const { return waiting_.empty(); }
    /// Forward passes that draw() takes for what waits.
    int n_passes() const;

    bool prompt_read() const { return !prompt_logits_.empty(); }
    Status read_prompt(const std::vector<int>& tokens, int chunk, const CancelCheck& cancelled);
    /// Draws every step that waits, after read_prompt. After an error the cache is of no more use.
    Status draw(std::vector<FloorRecord>& floors, const CancelCheck& cancelled);

 private:
    struct Step {
        int step, token;
        std::vector<float> logits;   // (n_vocab) of the reference
        std::vector<float> outputs;  // (n_layers, n_heads * head_dim) of the reference, or empty
    };
    FloorPass(std::shared_ptr<const Model> model, std::unique_ptr<KvCache> cache, int n_threads, int sum_order);
    Status pass(size_t begin, size_t end, std::vector<FloorRecord>& floors, const CancelCheck& cancelled);

    std::unique_ptr<KvCache> cache_;
    Forward forward_;
    size_t rows_per_pass_, n_vocab_;
    std::vector<float> prompt_logits_;  // (n_vocab) of the first step
    int unread_token_ = -1;             // of the last step drawn: not in the cache yet; -1: the prompt came last
    std::vector<Step> waiting_;
};

}  // namespace kvasir
