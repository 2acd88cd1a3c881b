// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes a scheme takes, in closed form (docs/spec/kv-cache-schemes.md, sections 1.5 and 8). KvCache::ledger
// counts the same bytes in a real cache; tests/core/cache/tst_cache_bytes.cpp holds the two equal.
#pragma once

#include <cstdint>

#include "core/cache/kv_cache.h"

namespace kvasir {

/// Tokens in quantized storage after a prompt of n_prompt tokens and n_tokens - n_prompt decoding steps.
int64_t quantized_tokens(FlushRule rule, int residual, int64_t n_prompt, int64_t n_tokens);

/// Bytes of all layers in that state. max_tokens of the shape is not asked. PRECONDITION: check_geometry accepts the
/// shape and the lengths divide into groups. Where keys leave the exact window other than in whole blocks of 8 tokens
/// (no preset's do), `padding` may differ: it depends on where in a block the window stands.
ByteLedger cache_bytes(const CacheSpec& spec, const CacheShape& shape, int64_t n_prompt, int64_t n_tokens);

/// What a long cache comes to: bytes of n tokens <= window + per_token * n, padding left out.
struct ByteRates {
    double per_token = 0;        ///< bytes of one more token in quantized storage, all layers, K and V
    double exact_per_token = 0;  ///< the same while everything is still exact
    double window = 0;           ///< what the fullest exact window costs beyond the same tokens quantized
};
ByteRates byte_rates(const CacheSpec& spec, const CacheShape& shape);

}  // namespace kvasir
