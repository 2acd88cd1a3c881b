// SPDX-License-Identifier: GPL-3.0-or-later
// What a lane's cache will take, before it is filled.
#pragma once

#include "core/cache/kv_cache.h"

namespace kvasir {

/// Bytes of a cache with n_tokens in it, the first n_prompt of which came as the prompt (n_prompt <= n_tokens), all
/// layers; shape.max_tokens plays no part. Per layer, side and KV head:
///   quantized tokens * head_dim * (bits + 32 / group) / 8    codes, and two fp16 constants per group
///   + exact tokens * head_dim * 2 (fp32: 4)
///   + the unused slots of the last block of 8 tokens where the layout has blocks: exact keys, and groups inside a
///   token
/// where the flush rule says how many tokens are exact (SideCache). KvCache::ledger differs in two places only: exact
/// keys under the rule `slide` begin in the middle of a block (up to 7 slots more), and codes that do not fill a byte,
/// or groups that do not fill a token, are rounded once per layer.
double predicted_bytes(const CacheSpec& spec, const CacheShape& shape, int n_prompt, int n_tokens);

}  // namespace kvasir
