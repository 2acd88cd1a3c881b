// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/model/tokenizer_vocab.h"

namespace kvasir {

/// SentencePiece BPE: of all adjacent pairs whose text is a token, the one of highest score is joined first, the
/// leftmost of equals. Spaces are written as U+2581.
class SpmMerger {
 public:
    /// `types` per token (text as in the file). A byte token's text is <0xHH>.
    void load(const std::vector<std::string_view>& texts, const std::vector<TokenType>& types,
              std::vector<float> scores, int unknown);

    /// Appends the tokens of a text without special tokens. n log n in its length.
    void encode(std::string_view text, bool space_in_front, std::vector<int>& ids) const;

 private:
    StringTable texts_;
    std::vector<float> scores_;
    std::array<int, 256> byte_token_{};  ///< -1: none
    size_t longest_ = 0;                 ///< bytes of the longest token that text may become
    int unknown_ = -1;
};

/// The byte of a byte token's text <0xHH>, -1 when it is written otherwise.
int spm_byte(std::string_view text);

/// What a normal token's text stands for: U+2581 is a space.
void append_spm_text(std::string& out, std::string_view text);

}  // namespace kvasir
