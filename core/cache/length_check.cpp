// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/length_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/cache/store.h"

namespace kvasir {
namespace {

/// Multiple of `step` next to `n`, not 0.
int nearest_multiple(int n, int step) {
    return std::max(1, (n + step / 2) / step) * step;
}

Status check_side(const CacheSpec& spec, Side which, const CacheShape& shape, int n_prompt, int n_tokens) {
    const bool keys = which == Side::k;
    if (spec.side(which).plain() || (keys ? spec.flush_k : spec.flush_v) != FlushRule::whole) return {};
    const SideSpec side = group_at(spec.side(which), shape.head_dim);
    const int step = tokens_per_whole_group(side, shape.n_kv_heads, shape.head_dim);
    const int first = std::max(n_prompt - spec.sink, 0);
    // The first flush takes the prompt, the next ones the whole cache after every so many steps.
    const int residual = keys ? spec.residual_k : spec.residual_v, period = std::max(residual, 2);
    const char* name = keys ? "keys" : "values";
    const auto no = [&](std::string why, std::string hint) {
        return Error{ErrorCode::input, "cannot quantize this text", fmt::format("'{}'", spec.text),
                     fmt::format("{}: {}", name, why), std::move(hint)};
    };
    if (stores_one_group_exactly(side) && first * shape.n_kv_heads * shape.head_dim == side.group)
        return no(
            fmt::format("a prompt of {} is one single group, which Quanto stores element by element, without loss",
                        n_prompt),
            fmt::format("Use a prompt of at least {} tokens.", spec.sink + first + step));
    const bool flushes = n_tokens - spec.sink >= first + period;
    if (first % step == 0 && (!flushes || period % step == 0)) return {};
    std::string hint;
    if (first % step != 0) hint = fmt::format("a prompt of {} tokens", spec.sink + nearest_multiple(first, step));
    if (flushes && period % step != 0)
        hint += fmt::format("{}residual={}", hint.empty() ? "" : " and ", nearest_multiple(period, step));
    return no(fmt::format("groups of {} reach through {} tokens at a time, and the prompt has {}{}", side.group, step,
                          first, flushes ? fmt::format(", each further flush {} more", period) : std::string()),
              fmt::format("Use {}, or another group or axis.", hint));
}

}  // namespace

int tokens_per_whole_group(const SideSpec& spec, int n_kv_heads, int head_dim) {
    const SideSpec side = group_at(spec, head_dim);
    if (side.exact() || layout_of(side, head_dim) != Layout::flat) return 1;
    const int unit = side.axis == SideSpec::Axis::rows ? n_kv_heads : n_kv_heads * head_dim;  // what one token adds
    return side.group / std::gcd(unit, side.group);
}

bool stores_one_group_exactly(const SideSpec& side) {
    return side.codec == SideSpec::Codec::affine && side.axis == SideSpec::Axis::token &&
           side.form == SideSpec::Form::shift && !side.rotates();
}

Status check_lengths(const CacheSpec& spec, const CacheShape& shape, int n_prompt, int n_tokens) {
    for (int layer = 0; layer < shape.n_layers; ++layer) {
        const CacheSpec here = spec.at_layer(layer);
        for (const Side side : {Side::k, Side::v})
            if (Status ok = check_side(here, side, shape, n_prompt, n_tokens); !ok) return ok;
        if (spec.layers.empty()) break;
    }
    return {};
}

}  // namespace kvasir
