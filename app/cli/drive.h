// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/job.h"
#include "core/session/run.h"
#include "core/session/run_model.h"

namespace kvasir::cli {

/// Carries a run out to its end with progress on stderr; fills `measured`. `job` is told when it was interrupted, when
/// an error ended it after the first token, and when a lane has no figures: what was measured is there, its noise floor
/// too unless Ctrl+C was pressed twice (a third time ends the program). False in the first two cases; an error when
/// nothing was measured.
Result<bool> drive(Run& run, const Model& model, RunModel& measured, ProgressLine& progress, Job& job);

/// A template that is asked for and not there is refused: raw text would be measured under the name of a chat.
Status needs_chat_template(const Model& model);

}  // namespace kvasir::cli
