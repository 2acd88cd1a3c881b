// SPDX-License-Identifier: GPL-3.0-or-later
// A figure under its condition, in the window's language: the number, or why there is none.
#pragma once

#include <QString>
#include <functional>

#include "core/measure/figure.h"
#include "core/session/run_model.h"

namespace kvasir::ui {

/// What is inside the noise floor has no sign of its own here: it is grey (Figure::grey()).
QString figureText(const Figure& figure, const std::function<QString(double)>& write);

/// How far one token's prediction is from the reference's, or why that says nothing; "" for the reference itself.
QString tokenErrorText(const RunModel& run, int lane, const StepRecord& record);

}  // namespace kvasir::ui
