// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/memory_prediction.h"

#include <algorithm>

#include "core/cache/block_range.h"
#include "core/cache/store.h"

namespace kvasir {
namespace {

int exact_tokens(FlushRule rule, int residual, int n_prompt, int n_tokens) {
    switch (rule) {
        case FlushRule::none:
            return n_tokens;
        case FlushRule::whole:  // all of the prompt at once; then every `residual` tokens, at least two
            return (n_tokens - n_prompt) % std::max(residual, 2);
        case FlushRule::block:
            return n_tokens % residual;
        case FlushRule::slide:
            return std::min(n_tokens, residual);
    }
    return n_tokens;
}

int whole_blocks(int n_tokens) {
    return blocks_of(n_tokens) * kBlock;
}

double nominal_bits(const SideSpec& side, int head_dim) {
    CacheSpec both;
    both.k = both.v = side;
    return nominal_bits_per_value(both, head_dim);
}

}  // namespace

double predicted_bytes(const CacheSpec& spec, const CacheShape& shape, int n_prompt, int n_tokens) {
    double bits = 0;  // per layer, KV head and channel
    for (const Side which : {Side::k, Side::v}) {
        const bool keys = which == Side::k;
        const SideSpec& side = spec.side(which);
        const int exact = exact_tokens(keys ? spec.flush_k : spec.flush_v, keys ? spec.residual_k : spec.residual_v,
                                       n_prompt, n_tokens);
        const int quantized = n_tokens - exact;
        bits += (keys ? whole_blocks(exact) : exact) * (side.codec == SideSpec::Codec::fp32 ? 32.0 : 16.0);
        if (!side.exact())
            bits += (fits_token_groups(side, shape.head_dim) ? whole_blocks(quantized) : quantized) *
                    nominal_bits(side, shape.head_dim);
    }
    return bits / 8 * shape.n_layers * shape.n_kv_heads * shape.head_dim;
}

}  // namespace kvasir
