// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/journal_line.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/sha256.h"

namespace kvasir {
namespace {

constexpr size_t kHashDigits = 16;

std::string hash_of(std::string_view text) {
    return sha256_hex(text.data(), text.size()).substr(0, kHashDigits);
}

}  // namespace

std::string journal_line(int n_done, const nlohmann::json& object) {
    const std::string rest =
        fmt::format("{} {}", n_done, object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return fmt::format("{} {}\n", hash_of(rest), rest);
}

std::optional<JournalLine> read_journal_line(std::string_view line) {
    if (line.size() < kHashDigits + 2 || line[kHashDigits] != ' ') return std::nullopt;
    const std::string_view rest = line.substr(kHashDigits + 1);
    if (hash_of(rest) != line.substr(0, kHashDigits)) return std::nullopt;
    JournalLine read;
    const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), read.n_done);
    if (wrong != std::errc() || end == rest.data() + rest.size() || *end != ' ') return std::nullopt;
    read.json = rest.substr(size_t(end - rest.data()) + 1);
    return read;
}

}  // namespace kvasir
