// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/cache_bytes.h"

#include <algorithm>
#include <cmath>

#include "core/cache/block_range.h"
#include "core/cache/store.h"
#include "kernels/cpu/attention.h"

namespace kvasir {
namespace {

uint64_t rounded_up(int64_t tokens) {
    return uint64_t((tokens + kBlock - 1) / kBlock * kBlock);
}

uint64_t element_bytes(const SideSpec& side) {
    return side.codec == SideSpec::Codec::fp32 ? 4 : 2;
}

/// Exact tokens: keys lie in blocks of 8, values in rows, both of padded vectors.
ByteLedger exact_bytes(const SideSpec& side, Side which, int64_t n_tokens, const CacheShape& shape) {
    const uint64_t channel_bytes = uint64_t(shape.n_kv_heads) * element_bytes(side);
    const uint64_t slots = which == Side::k ? rounded_up(n_tokens) : uint64_t(n_tokens);
    ByteLedger bytes;
    bytes.residual = uint64_t(n_tokens) * uint64_t(shape.head_dim) * channel_bytes;
    bytes.padding = slots * uint64_t(kernels::padded_channels(shape.head_dim)) * channel_bytes - bytes.residual;
    return bytes;
}

/// Codes and constants of n_tokens of one layer and side.
ByteLedger coded_bytes(const SideSpec& spec, Side which, int64_t n_tokens, const CacheShape& shape) {
    const SideSpec side = group_at(spec, shape.head_dim);
    const uint64_t heads = uint64_t(shape.n_kv_heads), values_per_token = heads * uint64_t(shape.head_dim);
    const Layout layout = layout_of(side, shape.head_dim);
    ByteLedger bytes;
    if (layout == Layout::rotated) {
        bytes = exact_bytes(side, which, n_tokens, shape);
    } else {
        const uint64_t values = uint64_t(n_tokens) * values_per_token, bits = uint64_t(side.bits);
        const uint64_t group = uint64_t(side.group), n_constants = uint64_t(constants_per_group(side));
        bytes.codes = layout == Layout::rows ? uint64_t(n_tokens) * heads * ((uint64_t(shape.head_dim) * bits + 7) / 8)
                                             : (values * bits + 7) / 8;
        if (n_constants > 0) bytes.scales = values / group * 2;
        if (n_constants > 1) bytes.zeros = values / group * 2;
        if (layout == Layout::token_blocks) {
            const uint64_t empty = (rounded_up(n_tokens) - uint64_t(n_tokens)) * values_per_token;
            bytes.padding = empty * bits / 8 + empty / group * 2 * n_constants;
        }
    }
    if (side.centre && n_tokens > 0) bytes.zeros += 2 * values_per_token;
    return bytes;
}

/// Most exact tokens that are left after a decoding step.
int64_t full_window(FlushRule rule, int residual) {
    switch (rule) {
        case FlushRule::none:
        case FlushRule::write:
            return 0;
        case FlushRule::whole:
            return std::max(residual, 2) - 1;
        case FlushRule::block:
            return residual - 1;
        case FlushRule::slide:
            return residual;
    }
    return 0;
}

}  // namespace

int64_t quantized_tokens(FlushRule rule, int residual, int64_t n_prompt, int64_t n_tokens) {
    switch (rule) {
        case FlushRule::none:
            return 0;
        case FlushRule::write:
            return n_tokens;
        case FlushRule::whole: {
            // Section 1.3: an empty tail never flushes, so residual lengths 0, 1 and 2 are one.
            const int64_t period = std::max(residual, 2), steps = n_tokens - n_prompt;
            return n_prompt + steps / period * period;
        }
        case FlushRule::block:
            return n_tokens / residual * residual;
        case FlushRule::slide:
            return std::max<int64_t>(n_tokens - residual, 0);
    }
    return 0;
}

namespace {

ByteLedger layer_bytes(const CacheSpec& spec, const CacheShape& shape, int64_t n_prompt, int64_t n_tokens) {
    ByteLedger sum;
    for (const Side which : {Side::k, Side::v}) {
        const SideSpec& side = spec.side(which);
        if (side.plain()) {
            sum += exact_bytes(side, which, n_tokens, shape);
            continue;
        }
        // The sink is a cache of its own in front: everything else begins behind it.
        const int64_t sink = std::min<int64_t>(spec.sink, n_tokens), rest = n_tokens - sink;
        const bool keys = which == Side::k;
        const int64_t coded =
            quantized_tokens(keys ? spec.flush_k : spec.flush_v, keys ? spec.residual_k : spec.residual_v,
                             std::max<int64_t>(n_prompt - sink, 0), rest);
        sum += exact_bytes(side, which, sink, shape);
        sum += coded_bytes(side, which, coded, shape);
        sum += exact_bytes(side, which, rest - coded, shape);
    }
    return sum;
}

}  // namespace

ByteLedger cache_bytes(const CacheSpec& spec, const CacheShape& shape, int64_t n_prompt, int64_t n_tokens) {
    ByteLedger sum, layer;
    for (int i = 0; i < shape.n_layers; ++i) {
        // Without rules for layers they are all alike: the window asks for every token of a plan.
        if (i == 0 || !spec.layers.empty()) layer = layer_bytes(spec.at_layer(i), shape, n_prompt, n_tokens);
        sum += layer;
    }
    return sum;
}

ByteRates byte_rates(const CacheSpec& spec, const CacheShape& shape) {
    const double values = double(shape.n_kv_heads) * shape.head_dim;  // of one token, one layer, one side
    ByteRates rates;
    for (int i = 0; i < shape.n_layers; ++i) {
        const CacheSpec here = spec.at_layer(i);
        for (const Side which : {Side::k, Side::v}) {
            const SideSpec side = group_at(here.side(which), shape.head_dim);
            const double exact = double(exact_bytes(side, Side::v, 1, shape).total());
            double coded = exact;
            if (!side.exact()) {
                const double row = shape.head_dim * side.bits / 8.0;  // of one token and head
                coded = shape.n_kv_heads * (layout_of(side, shape.head_dim) == Layout::rows ? std::ceil(row) : row) +
                        values * 2.0 * constants_per_group(side) / side.group;
            }
            if (side.centre) rates.window += 2 * values;
            const int64_t window = which == Side::k ? full_window(here.flush_k, here.residual_k)
                                                    : full_window(here.flush_v, here.residual_v);
            rates.per_token += coded;
            rates.exact_per_token += exact;
            rates.window += double(window + (side.plain() ? 0 : here.sink)) * (exact - coded);
        }
    }
    return rates;
}

}  // namespace kvasir
