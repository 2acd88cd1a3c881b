// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/token_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvasir {
namespace {

Error refuse(std::string what, std::string why, std::string hint) {
    return Error{ErrorCode::input, std::move(what), "", std::move(why), std::move(hint)};
}

}  // namespace

Result<TokenPlan> plan_tokens(const Experiment& e, int n_ids, int context) {
    if (n_ids == 0) return refuse("nothing to run", "the prompt is empty", "Type a prompt or open a text.");
    TokenPlan plan{n_ids, e.n_tokens, ""};
    if (e.score_text) {
        if (e.prefill < 1)
            return refuse("cannot score the text", "the first part must have at least 1 token",
                          "Set prefill to 1 or more.");
        if (n_ids <= e.prefill)
            return refuse("cannot score the text",
                          fmt::format("it has {} tokens and the first {} are the prompt", n_ids, e.prefill),
                          "Use a longer text or a smaller prefill.");
        const int n_after = n_ids - e.prefill;
        plan.n_prompt = e.prefill;
        plan.n_planned = e.n_tokens <= 0 ? n_after : std::min(e.n_tokens, n_after);
        if (e.n_tokens > plan.n_planned)
            plan.note =
                fmt::format("{} tokens asked for, the text has {} after the prompt", e.n_tokens, plan.n_planned);
    }
    if (plan.n_prompt >= context)
        return refuse("the prompt is too long",
                      fmt::format("{} tokens, the model's context is {}", plan.n_prompt, context),
                      "Shorten the prompt or open a model with a longer context.");
    if (plan.n_planned < 1)
        return refuse("nothing to run", fmt::format("{} tokens asked for", e.n_tokens), "Ask for at least 1.");
    if (plan.n_prompt + plan.n_planned > context) {
        plan.note = fmt::format("{} tokens asked for, the context of {} leaves room for {}", plan.n_planned, context,
                                context - plan.n_prompt);
        plan.n_planned = context - plan.n_prompt;
    }
    return plan;
}

}  // namespace kvasir
