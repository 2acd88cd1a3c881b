// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/cache/registry.h"

namespace kvasir {
namespace {

using Number = std::optional<int>;

std::vector<Number> choices(const std::vector<int>& list) {
    if (list.empty()) return {std::nullopt};
    return {list.begin(), list.end()};
}

std::string options_text(Number group, Number residual) {
    std::string text;
    if (group) text += fmt::format(",group={}", *group);
    if (residual) text += fmt::format(",residual={}", *residual);
    return text;
}

/// The scheme one side is taken from. Exact sides have nothing that could be bent.
Result<CacheSpec> side_source(const std::string& preset, Side side, const std::string& options) {
    auto plain = parse_cache_spec(preset);
    if (!plain || plain->side(side).exact()) return plain;
    return parse_cache_spec(preset + options);
}

SweepPoint point(const std::string& k, const std::string& v, std::string options) {
    SweepPoint p;
    const auto keys = side_source(k, Side::k, options), values = side_source(v, Side::v, options);
    if (keys && values && keys->k.exact() && values->v.exact()) options.clear();
    p.text = k == v ? k + options : fmt::format("{},k={}{}", v, k, options);
    for (const auto* source : {&keys, &values})
        if (!*source) {
            p.refused = source->error().message();
            return p;
        }
    CacheSpec wanted;
    take_side(wanted, *keys, Side::k);
    take_side(wanted, *values, Side::v);
    for (const std::string& text : {p.text, fmt::format("{},v={}{}", k, v, options), long_spec(wanted)}) {
        auto spec = parse_cache_spec(text);
        if (!spec) {
            p.refused = spec.error().message();  // the long form's stays, when nothing fits
            continue;
        }
        if (!spec->same_scheme(wanted)) continue;
        p.text = text;
        p.spec = std::move(*spec);
        p.refused.clear();
        return p;
    }
    return p;
}

}  // namespace

std::vector<SweepPoint> sweep_points(const SweepGrid& grid) {
    std::vector<SweepPoint> points;
    for (const std::string& k : grid.k)
        for (const std::string& v : grid.v)
            for (const Number group : choices(grid.groups))
                for (const Number residual : choices(grid.residuals)) {
                    SweepPoint next = point(k, v, options_text(group, residual));
                    const bool known = std::any_of(points.begin(), points.end(), [&](const SweepPoint& p) {
                        return next.refused.empty() ? p.refused.empty() && p.spec.same_scheme(next.spec)
                                                    : p.text == next.text;
                    });
                    if (!known) points.push_back(std::move(next));
                }
    return points;
}

}  // namespace kvasir
