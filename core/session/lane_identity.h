// SPDX-License-Identifier: GPL-3.0-or-later
// Who a lane is, whatever its place: letter, colour and marker follow LaneSetup::mark, which a lane is given once and
// keeps while others are added, removed and moved around it.
#pragma once

#include "core/session/experiment.h"

namespace kvasir {

constexpr int kMostLanes = 8;  ///< that a person can add: the reference and seven others, each with a look of its own

/// Mark of lane `lane`: 0 = A. In an experiment whose lanes were not given any it follows from the place among the
/// lanes without the reference. The reference is R, whatever its mark.
int lane_mark(const Experiment& experiment, int lane);

/// Gives a mark to every lane that has none or the same as one before it. `shown`: the run that is looked at beside the
/// experiment; a lane that is in it keeps its mark, and a new one is given none that stands for another scheme there.
void give_marks(Experiment& experiment, const Experiment* shown = nullptr);

/// Index of lane `lane` of `from` in `in`; -1: it is not there.
int same_lane(const Experiment& from, int lane, const Experiment& in);

}  // namespace kvasir
