// SPDX-License-Identifier: GPL-3.0-or-later
// What may be said of one lane: its figures, each under its condition.
#pragma once

#include "core/measure/figure.h"
#include "core/session/run_model.h"

namespace kvasir {

struct LaneFigures {
    Figure nll, ppl;                ///< over all scored tokens
    Figure kl, dnll, top1, rms_dp;  ///< over the tokens that compare with the reference
    Figure tokens_per_second;
    LaneSummary summary;  ///< what they were taken from; empty for a failed lane
};

LaneFigures lane_figures(const RunModel& run, int lane);
/// The same from a summary that is at hand.
LaneFigures lane_figures(const RunModel& run, int lane, LaneSummary summary, const NoiseFloor& floor);

/// How far one token's prediction is from the reference's, nats, against the floor of its step.
Figure token_kl(const RunModel& run, int lane, const StepRecord& record);

/// Why a lane that was asked for has no (whole) figures: it was refused, stopped, or its logits are not numbers. "" for
/// one that has, or that is switched off.
std::string lane_trouble(const RunModel& run, int lane);

/// Every lane that was asked for has figures to the end.
bool all_lanes_measured(const RunModel& run);

/// "56 tokens", or by lane where they differ: "fp16 56, quanto:2 2 of 56 tokens compared".
std::string tokens_by_lane(const RunModel& run);

}  // namespace kvasir
