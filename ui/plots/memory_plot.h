// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/lines_and_parts_plot.h"

namespace kvasir::ui {

/// Bytes in each lane's cache over the tokens; or, for the newest token, what they hold.
class MemoryPlot : public LinesAndPartsPlot {
    Q_OBJECT
 public:
    MemoryPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);
    QByteArray csv() const override;
};

}  // namespace kvasir::ui
