// SPDX-License-Identifier: GPL-3.0-or-later
// `layers=0-1:fp16+28-29:fp16`: some layers, or one side of them, take another preset.
#include <fmt/format.h>

#include <algorithm>

#include "core/cache/registry.h"
#include "core/cache/spec_text.h"

namespace kvasir {
namespace spec_text {

Status parse_layer_rules(std::string_view spec, std::string_view key, std::string_view value,
                         std::vector<LayerRule>& rules) {
    if (value.empty()) return {};
    for (const std::string_view part : split(value, '+')) {
        const size_t colon = part.find(':');
        const std::string_view range = trim(part.substr(0, colon));
        const size_t dash = range.find('-');
        const auto first = to_int(range.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : to_int(range.substr(dash + 1));
        if (colon == std::string_view::npos || !first || !last || *first < 0 || *last < *first)
            return refuse(spec, fmt::format("{} cannot be '{}'", key, part),
                          fmt::format("Write {}=FIRST-LAST:PRESET, for example {}=0-1:fp16.", key, key));
        const std::string_view preset = trim(part.substr(colon + 1));
        if (!find_scheme(preset)) {
            std::vector<std::string> names;
            for (const SchemeRow& row : scheme_rows())
                names.push_back(row.name);
            return refuse(spec, fmt::format("{}: there is no preset '{}'", key, preset),
                          fmt::format("Nearest: {}.", nearest(preset, names)));
        }
        rules.push_back({*first, *last, key != "layers_v", key != "layers_k", std::string(preset)});
    }
    return {};
}

/// Neighbours with one key are joined; the order stays, because later rules win. So a key may come back.
std::string layer_rules_text(const std::vector<LayerRule>& rules, std::string_view separator) {
    std::string text;
    std::string_view open;
    for (const LayerRule& r : rules) {
        const std::string_view key = r.k && r.v ? "layers" : r.k ? "layers_k" : "layers_v";
        const std::string range = r.first == r.last ? std::to_string(r.first) : fmt::format("{}-{}", r.first, r.last);
        text += key == open ? fmt::format("+{}:{}", range, r.preset)
                            : fmt::format("{}{}={}:{}", separator, key, range, r.preset);
        open = key;
    }
    return text;
}

}  // namespace spec_text

CacheSpec CacheSpec::at_layer(int layer) const {
    CacheSpec spec = *this;
    spec.layers.clear();
    for (const LayerRule& rule : layers) {
        if (layer < rule.first || layer > rule.last) continue;
        const CacheSpec& other = find_scheme(rule.preset)->scheme;
        if (rule.k) take_side(spec, other, Side::k);
        if (rule.v) take_side(spec, other, Side::v);
    }
    return spec;
}

bool CacheSpec::quantizes_as_it_writes(int n_layers) const {
    for (int layer = 0; layer < n_layers; ++layer) {
        const CacheSpec here = at_layer(layer);
        if (here.flush_k == FlushRule::write || here.flush_v == FlushRule::write) return true;
    }
    return false;
}

bool CacheSpec::same_scheme(const CacheSpec& o) const {
    return k == o.k && v == o.v && flush_k == o.flush_k && flush_v == o.flush_v && residual_k == o.residual_k &&
           residual_v == o.residual_v && sink == o.sink && flush_first == o.flush_first && layers == o.layers;
}

bool CacheSpec::same_prompt_attention(const CacheSpec& o) const {
    if (same_scheme(o)) return true;
    int n_layers = 1;
    for (const CacheSpec* spec : {this, &o})
        for (const LayerRule& rule : spec->layers)
            n_layers = std::max(n_layers, rule.last + 2);  // and one layer after the last rule
    for (int layer = 0; layer < n_layers; ++layer) {
        const CacheSpec a = at_layer(layer), b = o.at_layer(layer);
        for (const Side side : {Side::k, Side::v}) {
            const FlushRule rule_a = side == Side::k ? a.flush_k : a.flush_v;
            const FlushRule rule_b = side == Side::k ? b.flush_k : b.flush_v;
            const SideSpec &x = a.side(side), &y = b.side(side);
            const bool wide_x = x.codec == SideSpec::Codec::fp32, wide_y = y.codec == SideSpec::Codec::fp32;
            if (rule_a == FlushRule::write || rule_b == FlushRule::write) {
                if (rule_a != rule_b || !(x == y) || a.sink != b.sink) return false;
            } else if (wide_x != wide_y || x.pre_rope != y.pre_rope) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace kvasir
