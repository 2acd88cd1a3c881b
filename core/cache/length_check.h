// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/cache/kv_cache.h"

namespace kvasir {

/// Says whether every flush of a run finds whole groups: its prompt of n_prompt tokens, and the flushes until the cache
/// holds n_tokens. Groups that reach through the whole tensor (flush=whole) divide only some lengths. The error names
/// lengths that would do. PRECONDITION: check_geometry accepts the shape.
Status check_lengths(const CacheSpec& spec, const CacheShape& shape, int n_prompt, int n_tokens);

/// Tokens of one side that whole groups are made of: every flushed length is a multiple. 1 where groups lie inside a
/// token.
int tokens_per_whole_group(const SideSpec& side, int n_kv_heads, int head_dim);

/// The scheme stores a tensor of one single group element by element (Quanto axis 0), which no cache here does.
bool stores_one_group_exactly(const SideSpec& side);

}  // namespace kvasir
