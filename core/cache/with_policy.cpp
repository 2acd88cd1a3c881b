// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/with_policy.h"

#include <fmt/format.h>

#include "core/cache/registry.h"
#include "core/cache/spec_text.h"

namespace kvasir {
namespace {

using namespace spec_text;

bool sets_policy(std::string_view key) {
    return key.ends_with("residual") || key == "sink";
}

/// The text without the options that set a residual or the sink.
std::string without_policy(std::string_view text) {
    std::string kept;
    for (const std::string_view part : split(text, ',')) {
        if (sets_policy(trim(part.substr(0, part.find('='))))) continue;
        if (!kept.empty()) kept += ',';
        kept += part;
    }
    return kept;
}

}  // namespace

Result<CacheSpec> with_policy(const CacheSpec& spec, int residual_k, int residual_v, int sink) {
    CacheSpec wanted = spec;
    if (!spec.k.plain()) wanted.residual_k = residual_k;
    if (!spec.v.plain()) wanted.residual_v = residual_v;
    if (!spec.k.plain() || !spec.v.plain()) wanted.sink = sink;
    if (wanted.same_scheme(spec)) return spec;
    for (const Side side : {Side::k, Side::v}) {
        const bool writes = (side == Side::k ? spec.flush_k : spec.flush_v) == FlushRule::write;
        if (writes && (side == Side::k ? wanted.residual_k : wanted.residual_v) > 0)
            return refuse(spec.text, "it quantizes every token as it is written and keeps no residual",
                          "Compare it with schemes of its kind.");
    }
    if (const SchemeRow* row = find_scheme(split(trim(spec.text), ',')[0])) {
        const std::string base = without_policy(trim(spec.text)), tail = sink > 0 ? fmt::format(",sink={}", sink) : "";
        std::vector<std::string> texts{base + tail};
        for (const SchemeOption& option : row->options)
            if (option.shown.key.ends_with("residual"))
                for (const int value : {residual_k, residual_v})
                    texts.push_back(fmt::format("{},{}={}{}", base, option.shown.key, value, tail));
        for (const std::string& text : texts)
            if (auto parsed = parse_cache_spec(text); parsed && parsed->same_scheme(wanted)) return parsed;
    }
    auto parsed = parse_cache_spec(long_spec(wanted));
    if (parsed && !parsed->same_scheme(wanted))
        return refuse(spec.text, "its text cannot say these lengths", "Write it in the long form.");
    return parsed;
}

}  // namespace kvasir
