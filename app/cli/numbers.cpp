// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace kvasir::cli {
namespace {

/// CLI11 reads integers as C does: with a leading 0 in octal. Takes the zeros away; "" or why it is no number.
std::string decimal(std::string& text) {
    const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+');
    const size_t end = text.find_first_not_of("0123456789", sign);
    if (end != std::string::npos || sign == text.size()) return fmt::format("'{}' is no whole decimal number", text);
    const size_t first = std::min(text.find_first_not_of('0', sign), text.size() - 1);
    text = (text[0] == '-' ? "-" : "") + text.substr(first);
    // CLI11 takes the largest number for one that is too large.
    errno = 0;
    std::strtoull(text.c_str(), nullptr, 10);
    return errno == ERANGE ? fmt::format("'{}' is too large", text) : "";
}

std::string not_negative(std::string& text) {
    if (!text.empty() && text[0] == '-') return fmt::format("'{}' is below 0", text);
    return decimal(text);
}

std::string finite(std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool hex = text.find_first_of("xX") != std::string::npos;
    if (text.empty() || *end || hex || !std::isfinite(value)) return fmt::format("'{}' is no finite number", text);
    return "";
}

}  // namespace

void check_numbers(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands({}))
        for (CLI::Option* option : command->get_options()) {
            const std::string type = option->get_type_name();
            // transform() goes before the checks that were added with the option.
            if (type.rfind("INT", 0) == 0)
                option->transform(CLI::Validator(decimal, ""));
            else if (type.rfind("UINT", 0) == 0)
                option->transform(CLI::Validator(not_negative, ""));
            else if (type.rfind("FLOAT", 0) == 0)
                option->transform(CLI::Validator(finite, ""));
        }
}

}  // namespace kvasir::cli
