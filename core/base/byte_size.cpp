// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kvasir {
namespace {

struct Unit {
    std::string_view name;
    double bytes;
};
constexpr double kKilo = 1000, kKibi = 1024;
constexpr Unit kUnits[] = {{"B", 1},
                           {"kB", kKilo},
                           {"MB", kKilo* kKilo},
                           {"GB", kKilo* kKilo* kKilo},
                           {"TB", kKilo* kKilo* kKilo* kKilo},
                           {"KiB", kKibi},
                           {"MiB", kKibi* kKibi},
                           {"GiB", kKibi* kKibi* kKibi},
                           {"TiB", kKibi* kKibi* kKibi* kKibi}};
constexpr double kMost = 9e18;  // below 2^63

bool same_word(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

Result<uint64_t> parse_byte_size(std::string_view text, const std::string& option) {
    const auto refuse = [&](std::string why) {
        return Error{ErrorCode::usage, "cannot read the memory size", option, std::move(why),
                     "Write a number with its unit, for example 80GiB, 80GB or 24000MiB."};
    };
    double number = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (problem != std::errc()) return refuse(fmt::format("'{}' does not begin with a number", text));
    std::string_view unit = text.substr(size_t(end - text.data()));
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    if (unit.empty()) return refuse(fmt::format("'{}' has no unit", text));
    for (const Unit& u : kUnits) {
        if (!same_word(unit, u.name)) continue;
        const double bytes = number * u.bytes;
        if (!(bytes >= 1)) return refuse(fmt::format("'{}' is less than one byte", text));
        if (!(bytes < kMost)) return refuse(fmt::format("'{}' is more than any machine has", text));
        return uint64_t(std::llround(bytes));
    }
    return refuse(fmt::format("'{}' is not a unit, only B, kB, MB, GB, TB, KiB, MiB, GiB and TiB are", unit));
}

std::string byte_size_text(uint64_t bytes) {
    constexpr std::string_view kBinary[] = {"KiB", "MiB", "GiB", "TiB"};
    if (double(bytes) < kKibi) return fmt::format("{} B", bytes);
    double value = double(bytes) / kKibi;
    size_t unit = 0;
    while (value >= kKibi && unit + 1 < std::size(kBinary))
        value /= kKibi, ++unit;
    return fmt::format("{:.2f} {}", value, kBinary[unit]);
}

}  // namespace kvasir
