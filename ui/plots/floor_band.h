// SPDX-License-Identifier: GPL-3.0-or-later
// The band in which differences mean nothing, drawn below the lines.
#pragma once

#include <qcustomplot.h>

#include "ui/shell/theme.h"

namespace kvasir::ui {

/// From zero (a logarithmic axis: from its end) to a level per token, and mirrored below zero where values have signs.
class FloorBand {
 public:
    explicit FloorBand(QCustomPlot* plot);
    /// Starts an empty band below what is drawn from now on; the plot's graphs were cleared before.
    void begin(bool mirrored);
    void clear();  ///< no band
    void add(double x, double level);
    /// Level at the last point that is not right of x; 0 without one.
    double levelAt(double x) const;
    int countAt(double x) const;  ///< points up to there
    bool mirrored() const { return lower_ != nullptr; }
    bool empty() const { return !upper_ || upper_->dataCount() == 0; }
    const QCPGraph* graph() const { return upper_; }
    void applyTheme(const Theme& theme);

 private:
    void restyle();

    QCustomPlot* plot_;
    QCPGraph *upper_ = nullptr, *lower_ = nullptr;
    QCPItemText* words_;
    QColor fill_;
};

}  // namespace kvasir::ui
