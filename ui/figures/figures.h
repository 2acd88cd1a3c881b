// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a speed measurement, one file each. A figure is empty (no chart) when the documents lack its rows.
#pragma once

#include <memory>

#include "ui/figures/figure_data.h"
#include "ui/plots/chart.h"
#include "ui/plots/readout_line.h"

namespace kvasir::ui {

struct Figure {
    QString id, title;  ///< the id is the file's name
    QString needs;      ///< the rows without which it cannot be drawn
    Readout legend;     ///< what names and axes do not say
    std::unique_ptr<Chart> chart;
};

Figure rooflineFigure(const FigureData& data);
Figure speedByDepthFigure(const FigureData& data);
Figure latencyByLanesFigure(const FigureData& data);
Figure memoryByTokensFigure(const FigureData& data);
Figure timeSplitFigure(const FigureData& data);

}  // namespace kvasir::ui
