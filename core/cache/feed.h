// SPDX-License-Identifier: GPL-3.0-or-later
// The life of a step (KvCache) for caches that are filled without a model: recordings, laws, random schemes.
#pragma once

#include <functional>

#include "core/cache/kv_cache.h"

namespace kvasir {

/// Calls KvCache::put for every head of one token in layer 0.
using PutToken = std::function<void(int token)>;

/// Empties the cache and stores tokens [0, n) as a prompt in layer 0.
Status feed_prompt(KvCache& cache, int n, const PutToken& put);

/// Decodes one more token in layer 0; `attend` is called when attention would read.
Status feed_token(KvCache& cache, const PutToken& put, const std::function<void()>& attend = {});

}  // namespace kvasir
