// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tokenizer_spm.h"

#include <algorithm>
#include <charconv>
#include <queue>

#include "core/base/utf8.h"

namespace kvasir {

namespace {
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581
}

int spm_byte(std::string_view text) {
    if (text.size() != 6 || text.substr(0, 3) != "<0x" || text.back() != '>') return -1;
    unsigned value = 0;
    const char* end = text.data() + 5;
    const auto [stop, error] = std::from_chars(text.data() + 3, end, value, 16);
    return error == std::errc() && stop == end ? int(value) : -1;
}

void append_spm_text(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const size_t at = text.find(kSpace);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return;
        out += ' ';
        text.remove_prefix(at + kSpace.size());
    }
}

void SpmMerger::load(const std::vector<std::string_view>& texts, const std::vector<TokenType>& types,
                     std::vector<float> scores, int unknown) {
    scores_ = std::move(scores);
    scores_.resize(texts.size(), 0.0f);
    unknown_ = unknown;
    byte_token_.fill(-1);
    size_t bytes = 0;
    for (const std::string_view text : texts)
        bytes += text.size();
    texts_.reserve(texts.size(), bytes);
    for (size_t i = 0; i < texts.size(); ++i) {
        const int id = texts_.add(texts[i]);
        if (types[i] == TokenType::byte) byte_token_[size_t(spm_byte(texts[i]))] = id;
        if (types[i] != TokenType::normal && types[i] != TokenType::user_defined) continue;
        texts_.make_findable(id);
        longest_ = std::max(longest_, texts[i].size());
    }
}

void SpmMerger::encode(std::string_view text, bool space_in_front, std::vector<int>& ids) const {
    if (text.empty()) return;
    std::string spaced;
    spaced.reserve(text.size() + text.size() / 2);
    if (space_in_front) spaced += kSpace;
    for (const char c : text)
        if (c == ' ')
            spaced += kSpace;
        else
            spaced += c;
    const std::string_view all = spaced;

    struct Symbol {
        size_t begin, size;  // size 0: joined to its left neighbour
        int previous, next;
    };
    struct Candidate {
        float score;
        int position, token;
        size_t size;
        bool operator<(const Candidate& o) const {  // std::priority_queue keeps the greatest on top
            return score != o.score ? score < o.score : position > o.position;
        }
    };
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < all.size(); at += symbols.back().size) {
        const int i = int(symbols.size());
        symbols.push_back({at, utf8_step(all.substr(at)).length, i - 1, i + 1});
    }
    symbols.back().next = -1;

    std::priority_queue<Candidate> candidates;
    const auto consider = [&](int position) {
        if (position < 0 || symbols[size_t(position)].next < 0) return;
        const Symbol& left = symbols[size_t(position)];
        const size_t size = left.size + symbols[size_t(left.next)].size;
        if (size > longest_) return;
        const int token = texts_.find(all.substr(left.begin, size));
        if (token >= 0) candidates.push({scores_[size_t(token)], position, token, size});
    };
    for (int i = 0; i + 1 < int(symbols.size()); ++i)
        consider(i);
    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Symbol& left = symbols[size_t(best.position)];
        // Stale when either side has meanwhile been joined to something else.
        if (left.size == 0 || left.next < 0 || left.size + symbols[size_t(left.next)].size != best.size) continue;
        Symbol& right = symbols[size_t(left.next)];
        left.size = best.size;
        left.next = right.next;
        right.size = 0;
        if (left.next >= 0) symbols[size_t(left.next)].previous = best.position;
        consider(left.previous);
        consider(best.position);
    }

    for (int i = 0; i >= 0; i = symbols[size_t(i)].next) {
        const std::string_view symbol = all.substr(symbols[size_t(i)].begin, symbols[size_t(i)].size);
        if (const int token = texts_.find(symbol); token >= 0) {
            ids.push_back(token);
            continue;
        }
        for (const char c : symbol) {
            int token = byte_token_[static_cast<unsigned char>(c)];
            if (token < 0) token = texts_.find({&c, 1});
            if (token < 0) token = unknown_;
            if (token >= 0) ids.push_back(token);
        }
    }
}

}  // namespace kvasir
