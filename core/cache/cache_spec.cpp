// SPDX-License-Identifier: GPL-3.0-or-later
// The preset form: NAME[:BITS] {,key=value}.
#include "core/cache/cache_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/cache/registry.h"
#include "core/cache/spec_text.h"

namespace kvasir {
namespace {

using namespace spec_text;

std::vector<std::string> preset_names() {
    std::vector<std::string> names;
    for (const SchemeRow& row : scheme_rows())
        names.push_back(row.name);
    return names;
}

Result<const SchemeRow*> require_scheme(std::string_view spec, std::string_view name) {
    if (const SchemeRow* row = find_scheme(name)) return row;
    return refuse(
        spec,
        fmt::format("there is no preset {}, only {}", name.empty() ? "without a name" : name, list(preset_names())),
        fmt::format("Nearest: {}.", nearest(name, preset_names())));
}

Result<double> option_value(std::string_view spec, const PresetOption& option, std::string_view value) {
    if (!option.choices.empty()) {
        const auto& choices = option.choices;
        if (std::find(choices.begin(), choices.end(), value) == choices.end())
            return refuse(spec, fmt::format("{} cannot be '{}', only {}", option.key, value, list(choices)),
                          fmt::format("Nearest: {}={}.", option.key, nearest(value, choices)));
        if (value == "on" || value == "off") return value == "on" ? 1.0 : 0.0;
        return double(*to_int(value));
    }
    std::optional<double> number;
    if (option.is_real)
        number = to_real(value);
    else if (const auto whole = to_int(value))
        number = *whole;
    if (number && *number >= option.minimum && *number <= option.maximum) return *number;
    const std::string near =
        number ? fmt::format("{}", std::clamp(*number, double(option.minimum), double(option.maximum)))
               : option.default_value;
    return refuse(spec,
                  fmt::format("{} cannot be '{}', it is a number from {} to {}", option.key, value, option.minimum,
                              option.maximum),
                  fmt::format("Nearest: {}={}.", option.key, near));
}

bool same_side(const CacheSpec& a, const CacheSpec& b, Side side) {
    return side == Side::k ? a.k == b.k && a.flush_k == b.flush_k && a.residual_k == b.residual_k
                           : a.v == b.v && a.flush_v == b.flush_v && a.residual_v == b.residual_v;
}

/// One key=value, before its key was looked up.
struct Assignment {
    std::string_view key, value;
};

Result<std::vector<Assignment>> assignments(std::string_view text, const std::vector<std::string_view>& parts) {
    std::vector<Assignment> all;
    for (size_t i = 1; i < parts.size(); ++i) {
        const size_t equals = parts[i].find('=');
        if (equals == std::string_view::npos)
            return refuse(text, fmt::format("'{}' is not key=value", parts[i]), "Write for example residual=64.");
        const std::string_view key = trim(parts[i].substr(0, equals));
        for (const Assignment& other : all)
            if (other.key == key) return refuse(text, fmt::format("{} is given twice", key), "Give it once.");
        all.push_back({key, trim(parts[i].substr(equals + 1))});
    }
    return all;
}

/// Applies an option that every preset has; false: it is not one.
Result<bool> apply_policy(std::string_view text, Assignment option, CacheSpec& spec) {
    for (const PresetOption& policy : policy_options()) {
        if (policy.key != option.key) continue;
        if (policy.is_text) {
            if (Status ok = parse_layer_rules(text, option.key, option.value, spec.layers); !ok) return ok.error();
            return true;
        }
        const auto number = option_value(text, policy, option.value);
        if (!number) return number.error();
        spec.sink = int(*number);
        return true;
    }
    return false;
}

/// Applies an option of the preset itself. `replaced` sides come from another preset: an option that only concerns
/// those would be lost, so it is refused.
Status apply_option(std::string_view text, const SchemeRow& row, Assignment option, const std::vector<Side>& replaced,
                    CacheSpec& spec) {
    std::vector<std::string> keys;
    for (const SchemeOption& known : row.options) {
        keys.push_back(known.shown.key);
        if (known.shown.key != option.key) continue;
        auto number = option_value(text, known.shown, option.value);
        if (!number) return number.error();
        const CacheSpec before = spec;
        known.apply(spec, *number);
        bool reaches = spec.same_scheme(before);
        for (const Side side : {Side::k, Side::v})
            reaches |=
                !same_side(spec, before, side) && std::find(replaced.begin(), replaced.end(), side) == replaced.end();
        if (reaches) return {};
        return refuse(text, fmt::format("{} does nothing to a side taken from another preset", option.key),
                      "Leave one of the two out.");
    }
    for (const PresetOption& policy : policy_options())
        keys.push_back(policy.key);
    keys.insert(keys.end(), {"k", "v"});
    const std::string near = nearest(option.key, keys);
    std::string value = near == "k" || near == "v" ? "fp16" : near.starts_with("layers") ? "0:fp16" : "";
    for (const SchemeOption& known : row.options)
        if (known.shown.key == near) value = known.shown.default_value;
    for (const PresetOption& policy : policy_options())
        if (policy.key == near && value.empty()) value = policy.default_value;
    return refuse(text,
                  fmt::format("{} has no option {}, only {}", row.name,
                              option.key.empty() ? "without a name" : option.key, list(keys)),
                  fmt::format("Nearest: {}={}.", near, value));
}

Result<CacheSpec> parse_preset(std::string_view text) {
    const auto parts = split(text, ',');
    auto row = require_scheme(text, parts[0]);
    if (!row) return row.error();
    auto given = assignments(text, parts);
    if (!given) return given.error();

    CacheSpec spec = (*row)->scheme, sides;
    std::vector<Side> replaced;
    for (const Assignment& a : *given) {
        if (a.key != "k" && a.key != "v") continue;
        auto other = require_scheme(text, a.value);
        if (!other) return other.error();
        replaced.push_back(a.key == "k" ? Side::k : Side::v);
        take_side(sides, (*other)->scheme, replaced.back());
    }
    for (const Assignment& a : *given) {
        if (a.key == "k" || a.key == "v") continue;
        const auto policy = apply_policy(text, a, spec);
        if (!policy) return policy.error();
        if (*policy) continue;
        if (Status ok = apply_option(text, **row, a, replaced, spec); !ok) return ok.error();
    }
    for (const Side side : replaced)
        take_side(spec, sides, side);
    return spec;
}

}  // namespace

Result<CacheSpec> parse_cache_spec(std::string_view text) {
    text = trim(text);
    const bool is_long =
        text.substr(0, 2) == "k=" || text.substr(0, 2) == "v=" || text.find(';') != std::string_view::npos;
    auto spec = is_long ? parse_long(text) : parse_preset(text);
    if (!spec) return spec;
    spec->text = std::string(text);
    if (Status ok = check_scheme(*spec); !ok) return ok.error();
    return spec;
}

SideSpec group_at(SideSpec side, int head_dim) {
    if (side.group == 0) side.group = head_dim;
    return side;
}

int constants_per_group(const SideSpec& side) {
    switch (side.codec) {
        case SideSpec::Codec::fp32:
        case SideSpec::Codec::fp16:
        case SideSpec::Codec::fp8:
            return 0;
        case SideSpec::Codec::ternary:
        case SideSpec::Codec::turbo:
        case SideSpec::Codec::exl3:
            return 1;
        case SideSpec::Codec::ggml:
            return side.form == SideSpec::Form::symmetric ? 1 : 2;
        case SideSpec::Codec::affine:
        case SideSpec::Codec::hqq:
            return 2;
    }
    return 2;
}

double nominal_bits_per_value(const CacheSpec& spec, int head_dim, int n_layers) {
    const auto bits = [&](const SideSpec& side) {
        if (side.exact()) return double(side.bits);
        return side.bits + 16.0 * constants_per_group(side) / (side.group > 0 ? side.group : head_dim);
    };
    if (n_layers <= 0 && !spec.layers.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (int layer = 0; layer < n_layers; ++layer) {
        const CacheSpec here = spec.at_layer(layer);
        sum += (bits(here.k) + bits(here.v)) / 2;
    }
    return n_layers > 0 ? sum / n_layers : (bits(spec.k) + bits(spec.v)) / 2;
}

std::string display_name(const CacheSpec& spec) {
    const std::string_view text = trim(spec.text);
    if (const SchemeRow* row = find_scheme(split(text, ',')[0]); row && text.find(';') == std::string_view::npos) {
        std::string name = row->title;
        for (const std::string_view part : split(text, ',')) {
            const size_t equals = part.find('=');
            if (equals == std::string_view::npos) continue;
            const std::string_view key = trim(part.substr(0, equals)), value = trim(part.substr(equals + 1));
            if (value.empty()) continue;
            const bool is_default = std::any_of(row->options.begin(), row->options.end(), [&](const SchemeOption& o) {
                return o.shown.key == key && o.shown.default_value == value;
            });
            if (is_default) continue;
            std::string words(key);
            std::replace(words.begin(), words.end(), '_', ' ');
            name += key == "k" || key == "v" ? fmt::format(", {} from {}", key == "k" ? "keys" : "values", value)
                                             : fmt::format(", {} {}", words, value);
        }
        return name;
    }
    for (const SchemeRow& row : scheme_rows()) {
        CacheSpec bent = row.scheme;
        bent.residual_k = spec.residual_k, bent.residual_v = spec.residual_v;
        if (!bent.same_scheme(spec)) continue;
        if (row.scheme.same_scheme(spec)) return row.title;
        if (spec.residual_k == spec.residual_v) return fmt::format("{}, residual {}", row.title, spec.residual_k);
        return fmt::format("{}, residual {}/{}", row.title, spec.residual_k, spec.residual_v);
    }
    return long_spec(spec);
}

}  // namespace kvasir
