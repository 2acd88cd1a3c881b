// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer_vocab.h"

namespace kvasir {

/// Byte-pair merges over raw bytes: the pair of lowest rank is joined first, the leftmost of equals, until none is
/// left.
class BpeMerger {
 public:
    /// `tokens`: raw bytes of each token, findable where plain text may become it. `merges`: "left right" in GPT-2
    /// characters, by rank. Returns "" or what is wrong with them. `unknown`: token for bytes without one, -1: dropped.
    std::string load(const StringTable& tokens, const std::vector<std::string_view>& merges, int unknown);

    /// Appends the tokens of one pre-tokenizer piece. n log n in its length.
    void encode(std::string_view piece, std::vector<int>& ids) const;

    int missing_bytes() const;  ///< bytes that occur in UTF-8 text and that no token stands for

 private:
    struct Merge {
        uint64_t pair = kNoPair;
        int rank = 0;
        int merged = 0;
    };
    static constexpr uint64_t kNoPair = ~uint64_t(0);
    static uint64_t pair_of(int left, int right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }
    int intern(std::string_view bytes, const StringTable& tokens);
    void add(uint64_t pair, int rank, int merged);
    const Merge* find(int left, int right) const;
    void emit(int symbol, std::vector<int>& ids) const;

    // A symbol is a token's id, or n_tokens_ + number of an intermediate string that is no token.
    int n_tokens_ = 0;
    int unknown_ = -1;
    StringTable others_;
    std::array<int, 256> byte_symbol_{};
    std::vector<Merge> merges_;  ///< open addressing, a power of two
};

}  // namespace kvasir
