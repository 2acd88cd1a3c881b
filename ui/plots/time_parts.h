// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a step's time, as every stacked bar of time names and fills them.
#pragma once

#include <QStringList>
#include <vector>

#include "core/session/step_record.h"
#include "ui/plots/readout_line.h"

namespace kvasir::ui {

QStringList timePartNames();
QVector<PartStyle> timePartStyles();
std::vector<double> timeParts(const TimeSplit& split);  ///< in the order of the names, ns

/// Was the token timed? Step 0 was not: its prediction comes from the prompt pass, which has no time of one token.
bool isTimed(const StepRecord& record);

struct MeanTime {
    std::vector<double> parts;  ///< in the order of the names, ns; they add up to the mean time of a token
    int n = 0;                  ///< tokens
};
/// Of the last RunningMean::kWindow timed tokens of records[0 … index]: one token alone says more of what the computer
/// was busy with than of the lane. It is a mean, as a median would leave out what a lane pays for now and then only,
/// as quantizing every 32nd token.
MeanTime meanTime(const std::vector<StepRecord>& records, size_t index);

}  // namespace kvasir::ui
