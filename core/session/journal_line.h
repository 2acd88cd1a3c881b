// SPDX-License-Identifier: GPL-3.0-or-later
// One line of a journal: a hash of the rest, how many tokens are done, one JSON object. A line that was not written to
// its end is told from a whole one by its hash.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kvasir {

struct JournalLine {
    int n_done = 0;
    std::string_view json;  ///< in the text that was read
};

std::string journal_line(int n_done, const nlohmann::json& object);   ///< with its line end
std::optional<JournalLine> read_journal_line(std::string_view line);  ///< without its line end

}  // namespace kvasir
