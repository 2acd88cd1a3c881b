// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer.h"

namespace kvasir {

/// Built-in formatter recognised by the marker tokens of a model's template text; the template's code is never run.
class ChatTemplate {
 public:
    enum class Kind { none, chatml };
    static ChatTemplate recognise(std::string_view template_text);
    Kind kind() const { return kind_; }
    std::string_view name() const;

    /// Ids of one user turn followed by the start of the assistant's answer. The user's text is tokenized with special
    /// tokens as plain text, so it cannot inject turns. With Kind::none the prompt is tokenized as it is.
    std::vector<int> encode_turn(const Tokenizer& tokenizer, std::string_view user_text) const;

 private:
    Kind kind_ = Kind::none;
    std::string default_system_;  ///< the system text the template adds when the conversation has none
};

}  // namespace kvasir
