// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvasir {

/// Token types of tokenizer.ggml.token_type.
enum class TokenType : int32_t { undefined, normal, unknown, control, user_defined, unused, byte };

/// Strings numbered 0, 1, 2 … with the way back from a string to its number.
class StringTable {
 public:
    void reserve(size_t n, size_t bytes);
    int add(std::string_view text);         ///< its number; the text is not found by find() yet
    void make_findable(int id);             ///< of equal texts the first one is found
    int find(std::string_view text) const;  ///< -1: not there
    std::string_view at(int id) const {
        const Span& span = spans_[size_t(id)];
        return std::string_view(bytes_).substr(span.begin, span.length);
    }
    int size() const { return int(spans_.size()); }

 private:
    struct Span {
        size_t begin, length;
    };
    size_t slot_of(std::string_view text) const;
    void grow();

    std::string bytes_;
    std::vector<Span> spans_;
    std::vector<int> slots_;  ///< open addressing, a power of two, -1: free
    size_t used_ = 0;
};

/// The byte-to-character map of GPT-2: bytes 33-126, 161-172 and 174-255 stand for themselves, the other 68 in
/// ascending order for U+0100, U+0101, … Appends the bytes that `text` stands for; a character outside the map is kept
/// as it is.
void append_gpt2_bytes(std::string& out, std::string_view text);

}  // namespace kvasir
