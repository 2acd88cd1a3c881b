// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/session/experiment.h"

namespace kvasir {

/// How the tokens of an experiment's text are used.
struct TokenPlan {
    int n_prompt = 0;   ///< read as the prompt
    int n_planned = 0;  ///< scored or generated after it at most
    std::string note;   ///< what was changed against the experiment and why ("" when nothing)
};

/// n_ids: tokens of the whole text; context: the model's, in tokens. Refuses an empty prompt, one that fills the
/// context, a text without tokens to score.
Result<TokenPlan> plan_tokens(const Experiment& experiment, int n_ids, int context);

}  // namespace kvasir
