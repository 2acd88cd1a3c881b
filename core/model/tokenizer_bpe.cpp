// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tokenizer_bpe.h"

#include <fmt/format.h>

#include <bit>
#include <queue>

#include "core/base/utf8.h"

namespace kvasir {

int BpeMerger::intern(std::string_view bytes, const StringTable& tokens) {
    if (const int token = tokens.find(bytes); token >= 0) return token;
    int other = others_.find(bytes);
    if (other < 0) {
        other = others_.add(bytes);
        others_.make_findable(other);
    }
    return n_tokens_ + other;
}

void BpeMerger::add(uint64_t pair, int rank, int merged) {
    const size_t mask = merges_.size() - 1;
    size_t slot = (pair * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (merges_[slot].pair != kNoPair && merges_[slot].pair != pair)
        slot = (slot + 1) & mask;
    if (merges_[slot].pair == kNoPair) merges_[slot] = {pair, rank, merged};  // of equal merges the first rank counts
}

const BpeMerger::Merge* BpeMerger::find(int left, int right) const {
    const uint64_t pair = pair_of(left, right);
    const size_t mask = merges_.size() - 1;
    for (size_t slot = (pair * 0x9E3779B97F4A7C15u >> 32) & mask; merges_[slot].pair != kNoPair;
         slot = (slot + 1) & mask)
        if (merges_[slot].pair == pair) return &merges_[slot];
    return nullptr;
}

std::string BpeMerger::load(const StringTable& tokens, const std::vector<std::string_view>& merges, int unknown) {
    n_tokens_ = tokens.size();
    unknown_ = unknown;
    others_.reserve(0, 0);
    for (int byte = 0; byte < 256; ++byte) {
        const char c = char(byte);
        byte_symbol_[size_t(byte)] = intern({&c, 1}, tokens);
    }
    merges_.assign(std::bit_ceil(2 * merges.size() + 16), Merge());
    std::string joined;
    for (size_t rank = 0; rank < merges.size(); ++rank) {
        const std::string_view text = merges[rank];
        const size_t space = text.find(' ', 1);  // a part may itself begin with a space
        if (text.size() < 3 || space == std::string_view::npos || space + 1 == text.size())
            return fmt::format("merge {} (\"{}\") is not two parts with a space between", rank, printable(text, 60));
        joined.clear();
        append_gpt2_bytes(joined, text.substr(0, space));
        const size_t left_size = joined.size();
        append_gpt2_bytes(joined, text.substr(space + 1));
        const std::string_view both = joined;
        const int left = intern(both.substr(0, left_size), tokens), right = intern(both.substr(left_size), tokens);
        add(pair_of(left, right), int(rank), intern(both, tokens));
    }
    return {};
}

int BpeMerger::missing_bytes() const {
    int missing = 0;
    for (size_t byte = 0; byte < byte_symbol_.size(); ++byte) {
        // Of the control characters texts have these three. 0xF1 and 0xF2 begin planes 4 to 11, which hold no
        // character.
        const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
        const bool in_texts =
            !control && (byte < 0xC0 || (byte >= 0xC2 && byte <= 0xF4 && byte != 0xF1 && byte != 0xF2));
        missing += in_texts && byte_symbol_[byte] >= n_tokens_;
    }
    return missing;
}

void BpeMerger::emit(int symbol, std::vector<int>& ids) const {
    if (symbol < n_tokens_) return ids.push_back(symbol);
    for (const char c : others_.at(symbol - n_tokens_)) {
        const int byte = byte_symbol_[static_cast<unsigned char>(c)];
        const int token = byte < n_tokens_ ? byte : unknown_;
        if (token >= 0) ids.push_back(token);
    }
}

void BpeMerger::encode(std::string_view piece, std::vector<int>& ids) const {
    struct Symbol {
        int id;  // -1: joined to its left neighbour
        int previous, next;
    };
    struct Candidate {
        int rank, position, left, right, merged;
        bool operator<(const Candidate& o) const {  // std::priority_queue keeps the greatest on top
            return rank != o.rank ? rank > o.rank : position > o.position;
        }
    };
    const int n = int(piece.size());
    std::vector<Symbol> symbols(piece.size());
    for (int i = 0; i < n; ++i)
        symbols[size_t(i)] = {byte_symbol_[static_cast<unsigned char>(piece[size_t(i)])], i - 1,
                              i + 1 < n ? i + 1 : -1};

    std::vector<Candidate> storage;
    storage.reserve(piece.size());
    std::priority_queue<Candidate> candidates(std::less<Candidate>(), std::move(storage));
    const auto consider = [&](int position) {
        if (position < 0) return;
        const Symbol& left = symbols[size_t(position)];
        if (left.next < 0) return;
        const int right = symbols[size_t(left.next)].id;
        if (const Merge* m = find(left.id, right)) candidates.push({m->rank, position, left.id, right, m->merged});
    };
    for (int i = 0; i + 1 < n; ++i)
        consider(i);
    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Symbol& left = symbols[size_t(best.position)];
        // Stale when either side has meanwhile been joined to something else.
        if (left.id != best.left || left.next < 0 || symbols[size_t(left.next)].id != best.right) continue;
        Symbol& right = symbols[size_t(left.next)];
        left.id = best.merged;
        left.next = right.next;
        right.id = -1;
        if (left.next >= 0) symbols[size_t(left.next)].previous = best.position;
        consider(left.previous);
        consider(best.position);
    }
    for (int i = n > 0 ? 0 : -1; i >= 0; i = symbols[size_t(i)].next)
        emit(symbols[size_t(i)].id, ids);
}

}  // namespace kvasir
