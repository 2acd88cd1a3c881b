// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/chat_template.h"

#include <array>

namespace kvasir {

namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>";

/// Length of a line feed at the front of template text: the character itself or the escape \n; 0 when there is none.
size_t line_feed(std::string_view text) {
    if (text.substr(0, 1) == "\n") return 1;
    return text.substr(0, 2) == "\\n" ? 2 : 0;
}

/// The template's own system text: a string literal 'START system LF text END …'. Text put together from variables ends
/// the literal before END and is passed over.
std::string literal_system_text(std::string_view source) {
    const std::string opening = std::string(kStart) + "system";
    for (size_t at = source.find(opening); at != std::string_view::npos; at = source.find(opening, at + 1)) {
        std::string_view rest = source.substr(at + opening.size());
        const size_t feed = line_feed(rest);
        if (at == 0 || feed == 0) continue;
        rest.remove_prefix(feed);
        const char quote = source[at - 1];
        std::string text;
        for (size_t i = 0; i < rest.size() && rest.substr(i, kEnd.size()) != kEnd; ++i) {
            if (rest[i] == quote) {
                text.clear();
                break;
            }
            if (const size_t length = line_feed(rest.substr(i)); length == 2) {
                text += '\n';
                ++i;
            } else {
                if (rest[i] == '\\' && i + 1 < rest.size()) ++i;  // \' and \" stand for the quotes
                text += rest[i];
            }
        }
        if (!text.empty()) return text;
    }
    return {};
}

}  // namespace

ChatTemplate ChatTemplate::recognise(std::string_view template_text) {
    ChatTemplate chat;
    const bool chatml =
        template_text.find(kStart) != std::string_view::npos && template_text.find(kEnd) != std::string_view::npos;
    if (!chatml) return chat;
    chat.kind_ = Kind::chatml;
    chat.default_system_ = literal_system_text(template_text);
    return chat;
}

std::string_view ChatTemplate::name() const {
    return kind_ == Kind::chatml ? "chatml" : "none";
}

std::vector<int> ChatTemplate::encode_turn(const Tokenizer& tokenizer, std::string_view user_text) const {
    if (kind_ == Kind::none) return tokenizer.encode(user_text, SpecialTokens::as_text);
    std::string before;
    if (!default_system_.empty())
        before.append(kStart).append("system\n").append(default_system_).append(kEnd).append("\n");
    before.append(kStart).append("user\n");
    std::string after;
    after.append(kEnd).append("\n").append(kStart).append("assistant\n");
    const std::array<TextPart, 3> turn = {TextPart{before, SpecialTokens::parse},
                                          TextPart{user_text, SpecialTokens::as_text},
                                          TextPart{after, SpecialTokens::parse}};
    return tokenizer.encode(turn);
}

}  // namespace kvasir
