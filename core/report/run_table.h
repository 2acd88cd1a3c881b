// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/session/lane_figures.h"
#include "core/session/run.h"
#include "core/session/run_model.h"

namespace kvasir {

/// Bytes by kind and in all.
nlohmann::json ledger_json(const ByteLedger& bytes);

/// Figures of each lane: spec, requested/active/why, nll, ppl, KL, agreement, coverage, bytes, bits, tokens/s; of a
/// lane that failed or stopped only the reason. A figure that is none (0 % read, not a number) is null and `figures`
/// says why. The intervals are of the mean over tokens: ppl_ci95 of this text under this lane, dnll_ci95 and kl_ci95 of
/// the paired comparison with the reference. `seed` is that of the bootstrap.
nlohmann::json run_lanes_json(const RunModel& measured, const Run& run, uint64_t seed = 0);

/// How far the reference moves by itself; `n` 0: not measured.
nlohmann::json noise_floor_json(const NoiseFloor& floor);

/// A mean KL for people: a `~` before it says that it is inside the noise floor, words that there is none.
std::string kl_text(const Figure& kl);

/// The number, or null where there is none to be shown.
nlohmann::json figure_json(const Figure& figure);

/// {value, n, coverage, floor, state, why}: a figure with its condition.
nlohmann::json condition_json(const Figure& figure);

/// What the floor is and what `~` means, in a line; "" where it was not measured.
std::string noise_floor_line(const NoiseFloor& floor);

/// Every lane for people: one line per lane, and the noise floor below where it was measured.
std::string run_table(const RunModel& measured, const Run& run);

/// Text a lane generated, valid UTF-8.
std::string lane_text(const RunModel& measured, int lane);

}  // namespace kvasir
