// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/lane_lines_plot.h"

namespace kvasir::ui {

/// KL(reference || lane) of every token; or the change of log-probability, the rank, the running perplexity.
class ErrorPerToken : public LaneLinesPlot {
    Q_OBJECT
 public:
    ErrorPerToken(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);
    QByteArray csv() const override;
};

}  // namespace kvasir::ui
