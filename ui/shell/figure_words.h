// SPDX-License-Identifier: GPL-3.0-or-later
// A figure under its condition, in the window's language: the number, or why there is none.
#pragma once

#include <QString>
#include <functional>

#include "core/measure/figure.h"

namespace kvasir::ui {

/// What is inside the noise floor has no sign of its own here: it is grey (Figure::grey()).
QString figureText(const Figure& figure, const std::function<QString(double)>& write);

}  // namespace kvasir::ui
