// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the two forms of a cache spec: splitting, numbers, and refusals that name the nearest valid word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cache/cache_spec.h"

namespace kvasir::spec_text {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

/// The whole text as a decimal number.
std::optional<int> to_int(std::string_view text);

/// The whole text as a decimal number that may have a fraction.
std::optional<double> to_real(std::string_view text);

/// "a, b or c".
std::string list(const std::vector<std::string>& words);

/// The word with the smallest edit distance; the first one on a tie.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

Error refuse(std::string_view spec, std::string why, std::string hint);

/// The scheme as far as it can be judged without a model's geometry: codecs, axes and flush rules that go together.
Status check_scheme(const CacheSpec& spec);

Result<CacheSpec> parse_long(std::string_view text);

/// The value of `layers` (both sides), `layers_k` or `layers_v`: rules joined by +, each FIRST[-LAST]:PRESET.
Status parse_layer_rules(std::string_view spec, std::string_view key, std::string_view value,
                         std::vector<LayerRule>& rules);

/// The same as text, e.g. "; layers=0-1:fp16" with the given separator before each key.
std::string layer_rules_text(const std::vector<LayerRule>& rules, std::string_view separator);

}  // namespace kvasir::spec_text
