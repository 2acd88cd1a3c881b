// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tokenizer.h"

#include "core/base/utf8.h"
#include "core/model/tokenizer_impl.h"

namespace kvasir {

namespace {

/// A stretch of the input: one special token, or text between them.
struct Fragment {
    int token = -1;  ///< -1: text
    std::string_view text;
};

/// Cuts the text at special tokens, the longest first, each at every occurrence.
std::vector<Fragment> cut_at_special(const Tokenizer::Impl& tokenizer, std::string_view text, SpecialTokens special) {
    std::vector<Fragment> fragments;
    if (!text.empty()) fragments.push_back({-1, text});
    std::vector<Fragment> finer;
    for (const int token : tokenizer.cut) {
        if (special == SpecialTokens::as_text && tokenizer.types[size_t(token)] != TokenType::user_defined) continue;
        const std::string_view mark = tokenizer.pieces.at(token);
        bool found = false;
        finer.clear();
        for (const Fragment& fragment : fragments) {
            std::string_view rest = fragment.text;
            for (size_t at; fragment.token < 0 && (at = rest.find(mark)) != std::string_view::npos; found = true) {
                if (at > 0) finer.push_back({-1, rest.substr(0, at)});
                finer.push_back({token, mark});
                rest.remove_prefix(at + mark.size());
            }
            if (fragment.token >= 0 || !rest.empty()) finer.push_back({fragment.token, rest});
        }
        if (found) fragments.swap(finer);
    }
    return fragments;
}

/// Appends the tokens of text without special tokens; it stands at the start or behind a special token.
void encode_text(const Tokenizer::Impl& tokenizer, std::string_view text, std::vector<int>& ids) {
    if (tokenizer.kind == Tokenizer::Impl::Kind::sentence_piece)
        return tokenizer.spm.encode(text, tokenizer.add_space_prefix, ids);
    for (const std::string_view piece : tokenizer.pre->split(text)) {
        const int whole = tokenizer.pre->ignore_merges() ? tokenizer.pieces.find(piece) : -1;
        if (whole >= 0)
            ids.push_back(whole);
        else
            tokenizer.bpe.encode(piece, ids);
    }
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::vector<int> Tokenizer::encode(std::string_view utf8, SpecialTokens special) const {
    const TextPart part{utf8, special};
    return encode(std::span(&part, 1));
}

std::vector<int> Tokenizer::encode(std::span<const TextPart> parts) const {
    std::vector<int> ids;
    std::string text;  // of neighbouring text fragments, also of different parts
    const auto flush = [&] {
        encode_text(*impl_, text, ids);
        text.clear();
    };
    for (const TextPart& part : parts) {
        const std::string valid = valid_utf8(part.text);
        for (const Fragment& fragment : cut_at_special(*impl_, valid, part.special)) {
            if (fragment.token < 0) {
                text += fragment.text;
                continue;
            }
            flush();
            ids.push_back(fragment.token);
        }
    }
    flush();
    return ids;
}

std::string Tokenizer::decode(const std::vector<int>& ids) const {
    std::string bytes;
    // The space that encoding put in front of the first text is taken away again.
    bool strip = impl_->add_space_prefix;
    for (const int id : ids) {
        std::string_view text = piece(id);
        if (strip && !is_control(id)) {
            if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
            strip = false;
        }
        bytes += text;
    }
    return bytes;
}

std::string_view Tokenizer::piece(int id) const {
    return impl_->pieces.at(id);
}
bool Tokenizer::is_control(int id) const {
    return impl_->types[size_t(id)] == TokenType::control;
}
bool Tokenizer::is_end_of_generation(int id) const {
    return impl_->ends[size_t(id)];
}
bool Tokenizer::is_unused(int id) const {
    return impl_->types[size_t(id)] == TokenType::unused;
}
int Tokenizer::size() const {
    return impl_->size();
}
int Tokenizer::bos() const {
    return impl_->bos;
}
bool Tokenizer::add_bos() const {
    return impl_->add_bos;
}
std::string_view Tokenizer::pre_tokenizer() const {
    return impl_->pre ? impl_->pre->family() : "sentencepiece";
}
const std::vector<std::string>& Tokenizer::warnings() const {
    return impl_->warnings;
}

std::vector<int> Tokenizer::end_of_generation() const {
    std::vector<int> ids;
    for (int id = 0; id < size(); ++id)
        if (is_end_of_generation(id)) ids.push_back(id);
    return ids;
}

}  // namespace kvasir
