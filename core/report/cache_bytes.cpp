// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/cache_bytes.h"

#include <algorithm>

#include "core/cache/block_range.h"
#include "core/cache/store.h"

namespace kvasir {
namespace {

/// Bytes of the constants of one group: both are fp16.
struct GroupConstants {
    uint64_t scale = 2, zero = 2;
};

struct SideState {
    const SideSpec& side;
    Side which;
    int n_kv_heads, head_dim;
    int64_t quantized, exact;  ///< tokens
};

uint64_t rounded_up(int64_t tokens) {
    return uint64_t((tokens + kBlock - 1) / kBlock * kBlock);
}

uint64_t element_bytes(const SideSpec& side) {
    return side.codec == SideSpec::Codec::fp32 ? 4 : 2;
}

/// One layer, one side.
ByteLedger side_bytes(const SideState& s) {
    const uint64_t values_per_token = uint64_t(s.n_kv_heads) * uint64_t(s.head_dim);
    ByteLedger bytes;
    bytes.residual = uint64_t(s.exact) * values_per_token * element_bytes(s.side);
    // Exact keys lie in blocks of 8 tokens, exact values in rows.
    if (s.which == Side::k)
        bytes.padding = (rounded_up(s.exact) - uint64_t(s.exact)) * values_per_token * element_bytes(s.side);
    if (s.side.exact()) return bytes;
    constexpr GroupConstants kConstants;
    const uint64_t values = uint64_t(s.quantized) * values_per_token, n_groups = values / uint64_t(s.side.group);
    bytes.codes = (values * uint64_t(s.side.bits) + 7) / 8;
    bytes.scales = n_groups * kConstants.scale;
    bytes.zeros = n_groups * kConstants.zero;
    if (fits_token_groups(s.side, s.head_dim)) {  // such groups lie in blocks of 8 tokens as well
        const uint64_t empty = (rounded_up(s.quantized) - uint64_t(s.quantized)) * values_per_token;
        bytes.padding +=
            empty * uint64_t(s.side.bits) / 8 + empty / uint64_t(s.side.group) * (kConstants.scale + kConstants.zero);
    }
    return bytes;
}

/// Most exact tokens that are left after a decoding step.
int64_t full_window(FlushRule rule, int residual) {
    switch (rule) {
        case FlushRule::none:
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

ByteLedger cache_bytes(const CacheSpec& spec, const CacheShape& shape, int64_t n_prompt, int64_t n_tokens) {
    ByteLedger sum;
    for (const Side which : {Side::k, Side::v}) {
        const bool keys = which == Side::k;
        const int64_t quantized = quantized_tokens(keys ? spec.flush_k : spec.flush_v,
                                                   keys ? spec.residual_k : spec.residual_v, n_prompt, n_tokens);
        const ByteLedger layer =
            side_bytes({spec.side(which), which, shape.n_kv_heads, shape.head_dim, quantized, n_tokens - quantized});
        for (int i = 0; i < shape.n_layers; ++i)
            sum += layer;
    }
    return sum;
}

ByteRates byte_rates(const CacheSpec& spec, const CacheShape& shape) {
    const double values = double(shape.n_layers) * shape.n_kv_heads * shape.head_dim;  // of one token, one side
    ByteRates rates;
    for (const Side which : {Side::k, Side::v}) {
        const SideSpec& side = spec.side(which);
        const double exact = values * double(element_bytes(side));
        constexpr GroupConstants kConstants;
        const double quantized =
            side.exact() ? exact : values * (side.bits / 8.0 + double(kConstants.scale + kConstants.zero) / side.group);
        const int64_t window =
            which == Side::k ? full_window(spec.flush_k, spec.residual_k) : full_window(spec.flush_v, spec.residual_v);
        rates.per_token += quantized;
        rates.exact_per_token += exact;
        rates.window += double(window) * (exact - quantized);
    }
    return rates;
}

}  // namespace kvasir
