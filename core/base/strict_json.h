// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that a stranger may have written: what a lenient reader passes over in silence is refused with its place.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace kvasir {

/// Refuses what is not JSON (NaN, 1e999 and lone surrogates are not), a key that stands twice in one object, and more
/// than kMostJsonLevels levels of nesting. `what` and `where` begin the sentence of the refusal.
constexpr int kMostJsonLevels = 64;
Result<nlohmann::json> parse_strict_json(std::string_view text, const std::string& what, const std::string& where);

/// Is there memory for this text as a document, and for taking that apart again? To be asked before a large one is
/// parsed: the library's destructor allocates, and where it cannot the program ends.
bool room_for_json(std::string_view text);

}  // namespace kvasir
