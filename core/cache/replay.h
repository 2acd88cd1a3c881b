// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded keys and values through a cache, step by step: what attention sees and how many tokens are quantized.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/cache/kv_cache.h"

namespace kvasir {

/// fp16 [n_kv_heads, n_tokens, head_dim]; K after RoPE.
struct Recording {
    int n_kv_heads = 0, n_tokens = 0, head_dim = 0;
    const uint16_t* k = nullptr;
    const uint16_t* v = nullptr;
};

/// Step s (from 1) appends token t0 + s - 1. `seen`: leading tokens that came from quantized storage in what this
/// step's attention read; `after`: lengths when the step was over. The hashes are the first 32 hex digits of the
/// SHA-256 of what attention saw, fp16 little-endian, [n_kv_heads, tokens, head_dim]; quantized tokens of a rotated
/// side stay rotated.
struct ReplayStep {
    int step = 0;
    int k_quantized_seen = 0, v_quantized_seen = 0;
    int k_quantized_after = 0, k_residual_after = 0, v_quantized_after = 0, v_residual_after = 0;
    std::string sha256_k, sha256_v;
};

/// Feeds the first t0 tokens as a prompt to layer 0 of `cache`, then the others one at a time. `attending` is called in
/// each step after the token was put and before the flush rule, as attention would be. Without `hashes` they stay
/// empty. Fewer steps than there are tokens: cancelled.
Result<std::vector<ReplayStep>> replay(KvCache& cache, const Recording& recording, int t0,
                                       const std::function<void(int step)>& attending = {}, bool hashes = true,
                                       const CancelCheck& cancelled = {});

}  // namespace kvasir
