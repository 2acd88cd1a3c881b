// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a prompt into several caches with as few passes as their schemes allow.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/model/forward.h"

namespace kvasir {

struct PromptPass {
    std::vector<std::vector<float>> logits;  ///< per cache, after the last token; logits_stride() long
    int n_groups = 0;                        ///< passes over the prompt: caches of one group shared theirs
};

/// Begins every cache and appends the tokens to all of them, `chunk` at a time. Caches whose schemes read a prompt
/// alike form one group: its first cache attends, all of them store. Nothing is quantized yet: finish_prompt does that.
Result<PromptPass> read_prompt(Forward& forward, std::span<KvCache* const> caches, std::span<const int> tokens,
                               int chunk, const Progress& progress = {}, const CancelCheck& cancelled = {});

/// Called after each chunk with its first token, their number and their logits (rows of logits_stride(); empty when
/// none are wanted).
using AfterChunk = std::function<void(size_t begin, size_t n, const std::vector<float>& logits)>;

/// Begins one cache and takes a prompt through it by 128 tokens, for whoever wants more than the last logits.
Status each_prompt_chunk(Forward& forward, KvCache& cache, std::span<const int> tokens, ForwardOptions options,
                         const AfterChunk& after, const CancelCheck& cancelled = {});

}  // namespace kvasir
