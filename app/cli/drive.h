// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/common.h"
#include "core/session/run.h"
#include "core/session/run_model.h"

namespace kvasir::cli {

/// Carries a run out to its end with progress on stderr; fills `measured`. False: interrupted, what was measured is
/// there; its noise floor too, unless Ctrl+C was pressed twice.
Result<bool> drive(Run& run, const Model& model, RunModel& measured, ProgressLine& progress);

}  // namespace kvasir::cli
