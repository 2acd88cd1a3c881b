// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measure/task_metrics.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/utf8.h"

namespace kvasir {
namespace {

/// The code point at text[i], which moves behind it. PRECONDITION: valid UTF-8.
char32_t next_code_point(std::string_view text, size_t& i) {
    const Utf8Step step = utf8_step(text.substr(i));
    i += step.length;
    return step.code_point;
}

/// Python's str.isspace().
bool is_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_ascii_punctuation(char32_t c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// A character of a word in the sense of the regular expression \b: a letter or a digit. (The underscore is gone with
/// the punctuation.)
bool in_word(char32_t c) {
    if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c < 0xc0) return std::u32string_view(U"ªµº²³¹¼½¾").find(c) != std::u32string_view::npos;
    const bool punctuation = c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) || (c >= 0x3001 && c <= 0x303f);
    return !punctuation && !is_space(c);
}

char32_t lower(char32_t c) {
    if (c >= 'A' && c <= 'Z') return c + 32;
    if (c < 0xc0) return c;
    if ((c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f)) return c + 32;
    if (c >= 0x400 && c <= 0x40f) return c + 80;
    const bool even_is_capital = (c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177);
    const bool odd_is_capital = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e);
    if ((even_is_capital && c % 2 == 0) || (odd_is_capital && c % 2 == 1)) return c + 1;
    return c == 0x178 ? 0xff : c;
}

/// LongBench's normalize_answer, as words.
std::vector<std::string> normalized_words(std::string_view text) {
    std::string out, word;
    const auto end_word = [&] {
        const bool article = word == "a" || word == "an" || word == "the";
        out += article ? " " : word;
        word.clear();
    };
    for (size_t i = 0; i < text.size();) {
        const char32_t c = lower(next_code_point(text, i));
        if (is_ascii_punctuation(c)) continue;
        if (in_word(c)) {
            append_utf8(word, c);
        } else {
            end_word();
            append_utf8(out, c);
        }
    }
    end_word();
    return words_of(out);
}

/// The package's sentences: pieces between full stops that are not empty, as words joined by one space and split at it
/// again. So a piece of nothing but white space is a sentence with one empty word.
std::vector<std::vector<std::string>> sentences_of(std::string_view text) {
    std::vector<std::vector<std::string>> out;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('.', begin), text.size());
        if (end > begin) {
            out.push_back(words_of(text.substr(begin, end - begin)));
            if (out.back().empty()) out.back().emplace_back();
        }
        begin = end + 1;
    }
    return out;
}

/// Adds the words of one longest common subsequence: of several, the one that the package's walk back finds.
void add_common(const std::vector<std::string>& x, const std::vector<std::string>& y, std::set<std::string>& words) {
    const size_t stride = y.size() + 1;
    std::vector<int> length((x.size() + 1) * stride, 0);
    for (size_t i = 1; i <= x.size(); ++i)
        for (size_t j = 1; j <= y.size(); ++j)
            length[i * stride + j] = x[i - 1] == y[j - 1]
                                         ? length[(i - 1) * stride + j - 1] + 1
                                         : std::max(length[(i - 1) * stride + j], length[i * stride + j - 1]);
    for (size_t i = x.size(), j = y.size(); i > 0 && j > 0;) {
        if (x[i - 1] == y[j - 1])
            words.insert(x[i - 1]), --i, --j;
        else if (length[(i - 1) * stride + j] > length[i * stride + j - 1])
            --i;
        else
            --j;
    }
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    for (size_t i = 0; i < text.size();) {
        const char32_t c = next_code_point(text, i);
        if (!is_space(c)) {
            append_utf8(word, c);
        } else if (!word.empty()) {
            words.push_back(std::move(word));
            word.clear();
        }
    }
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

double token_f1(std::string_view prediction, std::string_view reference) {
    const auto mine = normalized_words(prediction), wanted = normalized_words(reference);
    std::map<std::string, int> left;
    for (const std::string& w : wanted)
        ++left[w];
    int same = 0;
    for (const std::string& w : mine)
        if (const auto at = left.find(w); at != left.end() && at->second > 0) --at->second, ++same;
    if (same == 0) return 0;
    const double precision = double(same) / double(mine.size()), recall = double(same) / double(wanted.size());
    return 2 * precision * recall / (precision + recall);
}

double rouge_l(std::string_view prediction, std::string_view reference) {
    const auto mine = sentences_of(prediction), wanted = sentences_of(reference);
    if (mine.empty() || wanted.empty()) return 0;
    std::set<std::string> common, my_words, wanted_words;
    for (const auto& sentence : mine)
        my_words.insert(sentence.begin(), sentence.end());
    for (const auto& sentence : wanted) {
        wanted_words.insert(sentence.begin(), sentence.end());
        for (const auto& other : mine)
            add_common(sentence, other, common);
    }
    const double precision = double(common.size()) / double(my_words.size());
    const double recall = double(common.size()) / double(wanted_words.size());
    return 2 * (precision * recall / (precision + recall + 1e-8));
}

double classification_score(std::string_view prediction, std::string_view reference,
                            std::span<const std::string> classes) {
    std::vector<std::string> found;
    for (const std::string& name : classes)
        if (prediction.find(name) != std::string_view::npos) found.push_back(name);
    for (size_t i = 0; i < found.size(); ++i)  // on purpose: what moves up to place i is not looked at
        if (const std::string name = found[i]; name != reference && reference.find(name) != std::string_view::npos)
            found.erase(std::find(found.begin(), found.end(), name));
    const bool hit = std::find(found.begin(), found.end(), reference) != found.end();
    return hit ? 1.0 / double(found.size()) : 0;
}

std::string_view paragraph_number(std::string_view reference) {
    constexpr std::string_view kWord = "Paragraph ";
    for (size_t at = reference.find(kWord); at != std::string_view::npos; at = reference.find(kWord, at + 1)) {
        const std::string_view rest = reference.substr(at + kWord.size());
        const size_t n = size_t(std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
        if (n > 0) return rest.substr(0, n);
    }
    return {};
}

double retrieval_score(std::string_view prediction, std::string_view reference) {
    const std::string_view wanted = paragraph_number(reference);
    int n = 0, right = 0;
    for (size_t i = 0; i < prediction.size();) {
        const size_t begin = i;
        while (i < prediction.size() && is_digit(prediction[i]))
            ++i;
        if (i == begin) {
            ++i;
            continue;
        }
        ++n;
        right += prediction.substr(begin, i - begin) == wanted;
    }
    return n ? double(right) / n : 0;
}

}  // namespace kvasir
