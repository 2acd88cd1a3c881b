// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/with_residual.h"

#include <fmt/format.h>

#include "core/cache/registry.h"
#include "core/cache/spec_text.h"

namespace kvasir {
namespace {

using namespace spec_text;

bool sets_residual(std::string_view key) {
    return key.ends_with("residual");
}

/// The text without the options that set a residual.
std::string without_residual(std::string_view text) {
    std::string kept;
    for (const std::string_view part : split(text, ',')) {
        if (sets_residual(trim(part.substr(0, part.find('='))))) continue;
        if (!kept.empty()) kept += ',';
        kept += part;
    }
    return kept;
}

}  // namespace

Result<CacheSpec> with_residual(const CacheSpec& spec, int residual_k, int residual_v) {
    CacheSpec wanted = spec;
    if (!spec.k.exact()) wanted.residual_k = residual_k;
    if (!spec.v.exact()) wanted.residual_v = residual_v;
    if (wanted.same_scheme(spec)) return spec;
    if (const SchemeRow* row = find_scheme(split(trim(spec.text), ',')[0])) {
        const std::string base = without_residual(trim(spec.text));
        std::vector<std::string> texts{base};
        for (const SchemeOption& option : row->options)
            if (sets_residual(option.shown.key))
                for (const int value : {residual_k, residual_v})
                    texts.push_back(fmt::format("{},{}={}", base, option.shown.key, value));
        for (const std::string& text : texts)
            if (auto parsed = parse_cache_spec(text); parsed && parsed->same_scheme(wanted)) return parsed;
    }
    return parse_cache_spec(long_spec(wanted));
}

}  // namespace kvasir
