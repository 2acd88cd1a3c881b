// SPDX-License-Identifier: GPL-3.0-or-later
// A plot of lines that can also show, for the newest token, what each lane's number is made of.
#pragma once

#include "ui/plots/bars_chart.h"
#include "ui/plots/lane_lines_plot.h"

namespace kvasir::ui {

struct PartsOfLane {
    QString choice;  ///< in the menu
    QString unit;    ///< of the axis: "MiB", "ms per token"
    int decimals = 2;
    QVector<QString> names;  ///< of the parts
    QVector<PartStyle> styles;
    std::function<std::vector<double>(const StepRecord&)> parts;
};

class LinesAndPartsPlot : public LaneLinesPlot {
    Q_OBJECT
 public:
    LinesAndPartsPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, const Measure& measure,
                      const QString& over_tokens, const PartsOfLane& parts, QWidget* parent);

    void showParts();

 protected:
    void takeRecords() override;
    void lanesShown() override;
    Readout makeReadout() const override;
    Readout exportLegend() const override;
    QString exportTitle() const override;
    bool tokensAlongX() const override { return chart() != bars_; }

 private:
    void fillRows();
    Readout legend() const;

    PartsOfLane parts_;
    BarsChart* bars_;
};

}  // namespace kvasir::ui
