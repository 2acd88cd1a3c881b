// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/session/run.h"
#include "core/session/run_model.h"

namespace kvasir {

/// Figures of each lane as the `lanes` of cli.md: spec, requested/active/why, nll, ppl, KL, agreement, coverage, bytes,
/// bits, tokens/s.
nlohmann::json run_lanes_json(const RunModel& measured, const Run& run);

/// The same for people, one line per lane.
std::string run_table(const RunModel& measured, const Run& run);

/// Text a lane generated, valid UTF-8.
std::string lane_text(const RunModel& measured, int lane);

}  // namespace kvasir
