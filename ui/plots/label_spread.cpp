// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/label_spread.h"

#include <algorithm>

namespace kvasir::ui {

QVector<double> spreadLabels(QVector<double> y, double height, double top, double bottom) {
    for (int pass = 0; pass < int(y.size()); ++pass) {
        bool moved = false;
        for (int i = 0; i + 1 < int(y.size()); ++i) {
            const double lack = height - (y[i + 1] - y[i]);
            if (lack <= 0.01) continue;
            y[i] -= lack / 2;
            y[i + 1] += lack / 2;
            moved = true;
        }
        if (!moved) break;
    }
    double floor = top + height / 2;
    for (double& centre : y) {
        centre = std::max(centre, floor);
        floor = centre + height;
    }
    double ceiling = bottom + height / 2;
    for (int i = int(y.size()) - 1; i >= 0; --i) {
        y[i] = std::min(y[i], ceiling);
        ceiling = y[i] - height;
    }
    return y;
}

}  // namespace kvasir::ui
