// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run.h"
#include "core/session/run_model.h"

namespace kvasir {

/// Carries a fresh run out to its last token and fills `measured`, token pieces and noise floor included. False:
/// cancelled, what was measured until then is there, with its noise floor unless `give_up` says that even this is not
/// wanted (not given: `cancelled` says so). (The engine has a loop of its own: it pauses, steps and publishes.)
Result<bool> run_to_end(Run& run, const Model& model, RunModel& measured, const Progress& progress = {},
                        const CancelCheck& cancelled = {}, const CancelCheck& give_up = {});

}  // namespace kvasir
