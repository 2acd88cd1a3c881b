// SPDX-License-Identifier: GPL-3.0-or-later
// What fits into a memory: the longest context of a model's shape under a scheme, from bytes alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cache/cache_bytes.h"
#include "core/report/model_shapes.h"

namespace kvasir {

/// What memory holds for a moment beside weights and cache; grows with the context.
enum class Transient {
    logits32,   ///< a prompt read in one call: fp32 logits of every position, n_tokens x n_vocab
    mlp,        ///< the same call: two intermediate rows of the gated MLP in fp16, n_tokens x n_ff each
    layer_copy  ///< Transformers' quantized caches: one layer's K and V at 16 bits, twice (dequantized, concatenated)
};

const char* transient_name(Transient t);  ///< "logits32", "mlp", "layer-copy"
Result<Transient> parse_transient(const std::string& name);

/// Bytes per token of context. layer_copy is 0 for schemes that do not flush the whole cache at once.
uint64_t transient_bytes_per_token(Transient t, const ModelShape& shape, const CacheSpec& spec);

struct CapacityQuestion {
    ModelShape shape;
    uint64_t memory_bytes = 0, weight_bytes = 0;
    std::vector<Transient> transients;  ///< counted as held beside the cache
};

struct CapacityRow {
    CacheSpec spec;
    std::string refused;  ///< why this shape cannot be stored; "" when it can
    double bytes_per_token = 0;
    uint64_t fixed_bytes = 0;  ///< the full exact window, beyond the same tokens quantized
    uint64_t transient_bytes_per_token = 0;
    /// Largest n with weights + fixed + (bytes + transient bytes) * n <= memory, padding left out; 0: not one token.
    int64_t max_context = 0;
    ByteLedger at_max;  ///< of a prompt of that length: what the bytes are
};

CapacityRow capacity_row(const CapacityQuestion& question, const CacheSpec& spec);

uint64_t weight_bytes(const ModelShape& shape, double bits_per_weight);

/// Three published figures recomputed for Llama-2-7B (docs/spec/kv-cache-schemes.md, section 7.4): 40k against 128k
/// tokens on 80 GB, "about 5 GB at 10,000 tokens", and "2.5x" against the ratio of the bits. Text for people.
std::string explain_published_capacity();

}  // namespace kvasir
