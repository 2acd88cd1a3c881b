// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a step's time, as every stacked bar of time names and fills them.
#pragma once

#include <QStringList>
#include <vector>

#include "core/base/time_split.h"
#include "ui/plots/readout_line.h"

namespace kvasir::ui {

QStringList timePartNames();
QVector<PartStyle> timePartStyles();
std::vector<double> timeParts(const TimeSplit& split);  ///< in the order of the names, ns

}  // namespace kvasir::ui
