// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-exact UTF-8 steps, shared by the tokenizer, its streaming output and error texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvasir {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Step {
    enum class Kind { valid, invalid, incomplete };
    Kind kind = Kind::invalid;
    size_t length = 1;        ///< bytes of the character, of the bad sequence, or of the incomplete tail
    char32_t code_point = 0;  ///< of a valid character
};

/// Looks at the first character of non-empty bytes. A bad sequence is a maximal prefix of a character (Unicode 14,
/// section 3.9, "substitution of maximal subparts"), so a decoder that sees it in pieces replaces it the same way.
Utf8Step utf8_step(std::string_view bytes);

void append_utf8(std::string& out, char32_t code_point);
bool is_valid_utf8(std::string_view bytes);

/// Text of a file made safe to show: invalid bytes and control characters become U+FFFD, cut at max_bytes with "…".
std::string printable(std::string_view bytes, size_t max_bytes = 200);

}  // namespace kvasir
