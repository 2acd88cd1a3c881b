// SPDX-License-Identifier: GPL-3.0-or-later
// Labels at the ends of lines: none covers another.
#pragma once

#include <QVector>

namespace kvasir::ui {

/// Centres of labels of one height, top to bottom: touching ones are spread about their mean place, and all stay
/// between `top` and `bottom` while there is room.
QVector<double> spreadLabels(QVector<double> centres, double height, double top, double bottom);

}  // namespace kvasir::ui
