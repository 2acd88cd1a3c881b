// SPDX-License-Identifier: GPL-3.0-or-later
// The Llama forward pass for several sequences at once: each weight row is read once per step for all of them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/time_split.h"
#include "core/cache/kv_cache.h"
#include "core/model/model.h"
#include "kernels/cpu/thread_pool.h"

namespace kvasir {

/// Consecutive tokens of one sequence, standing at positions caches[0]->n_tokens() and up. K and V go to every cache of
/// the list; attention reads the first (lanes whose prompt attention is equal share one pass).
struct Sequence {
    std::vector<int> tokens;
    std::vector<KvCache*> caches;
    Error error;          ///< out: why a cache refused the step
    bool failed = false;  ///< out
};

/// What one layer hands to its caches and its attention, one vector of head_dim at a time: the tap of a recording.
enum class VectorKind {
    k_before_rope,
    k,  ///< after RoPE
    v,
    q  ///< after RoPE, before the scaling by 1/sqrt(head_dim)
};
/// Called from the pool's threads, once for each (kind, layer, head, position); fp32, before any rounding.
using VectorTap = std::function<void(VectorKind kind, int layer, int head, int position, const float* x)>;
/// What attention gives in one layer, before the output projection: o (tokens of all sequences in order,
/// n_heads * head_dim). Called on the thread that called run().
using OutputTap = std::function<void(int layer, const float* o)>;

struct ForwardOptions {
    bool flush = true;        ///< decoding: flush rules apply and reads are counted. false: a part of a prompt
    bool all_logits = false;  ///< logits of every token instead of the last of each sequence
    bool no_logits = false;   ///< a part of a prompt whose logits nobody wants
    VectorTap tap;            ///< sees every vector of the first sequence; empty: nothing is recorded
    OutputTap output_tap;     ///< empty: nothing is handed out
};

/// Scratch memory and threads of one engine; not for concurrent use.
class Forward {
 public:
    /// `sum_order`: the order of the sums of every matrix product, see kernels::matmul.
    Forward(std::shared_ptr<const Model> model, int n_threads, int sum_order = 0);
    ~Forward();

    /// logits: (sum of wanted rows, logits_stride()) in sequence order, the first n_vocab of each row are meant.
    /// `cancelled` is asked before each layer; when it says yes the caches are left between two tokens and must be
    /// begun anew. Sums have the one order given at construction: the same bits for any number of sequences, threads
    /// and any chunking of a prompt.
    Status run(std::span<Sequence> sequences, const ForwardOptions& options, std::vector<float>& logits,
               const CancelCheck& cancelled = {});

    /// Quantizes the prompt in all layers of these caches (in parallel); one status per cache.
    std::vector<Status> finish_prompt(std::span<KvCache* const> caches);

    size_t logits_stride() const;                 ///< n_vocab rounded up to whole row blocks
    const std::vector<TimeSplit>& times() const;  ///< per sequence, of the last run
    double wall_ns() const;                       ///< of the last run
    kernels::ThreadPool& pool();
    const Model& model() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvasir
