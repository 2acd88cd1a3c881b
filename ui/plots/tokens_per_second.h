// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/lines_and_parts_plot.h"

namespace kvasir::ui {

/// Each lane's own decoding rate over the tokens; or where the time of the last tokens went.
class TokensPerSecond : public LinesAndPartsPlot {
    Q_OBJECT
 public:
    TokensPerSecond(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);
    QByteArray csv() const override;

 protected:
    QString makeProvenance() const override;
};

}  // namespace kvasir::ui
