// SPDX-License-Identifier: GPL-3.0-or-later
// The texts that come with the program: demonstration prompts and passages to score.
#pragma once

#include <QString>
#include <vector>

#include "core/session/experiment.h"

namespace kvasir::ui {

struct BuiltInText {
    QString id, title, what_it_shows, text;
    bool chat = false;
    bool score = false;  ///< a passage whose own tokens are scored
    int n_tokens = 0;    ///< to generate; 0 with score: all
    int prefill = 128;   ///< with score: tokens that are the prompt
};

const std::vector<BuiltInText>& builtInTexts();

/// The built-in text an experiment uses, or nullptr when it is the user's own.
const BuiltInText* builtInTextOf(const Experiment& experiment);

/// `experiment` with this text and its settings.
Experiment withText(Experiment experiment, const BuiltInText& text);

/// Short name for the toolbar: the title, or the first words.
QString textName(const Experiment& experiment);

}  // namespace kvasir::ui
