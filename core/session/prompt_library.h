// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvasir {

/// One demonstration prompt of resources/prompts.json.
struct DemoPrompt {
    std::string id, title, kind, about, text;
    bool chat = false;
    int suggested_tokens = 56;
};

/// All of them, in file order; built into the library.
const std::vector<DemoPrompt>& demo_prompts();
const DemoPrompt* demo_prompt(std::string_view id);  ///< nullptr when unknown

/// The built-in evaluation text (resources/texts/lighthouse.txt, CC0).
std::string_view lighthouse_text();

}  // namespace kvasir
