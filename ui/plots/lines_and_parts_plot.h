// SPDX-License-Identifier: GPL-3.0-or-later
// A plot of lines that can also show what each lane's number is made of: of the newest token, or of a mean over the
// last ones.
#pragma once

#include <QMap>

#include "ui/plots/bars_chart.h"
#include "ui/plots/lane_lines_plot.h"

namespace kvasir::ui {

struct PartsOfLane {
    QString choice;  ///< in the menu
    QString unit;    ///< of the axis: "MiB", "ms per token"
    int decimals = 2;
    QVector<QString> names;  ///< of the parts
    QVector<PartStyle> styles;
    bool mean = false;  ///< over the last tokens; else the newest one
    struct Shown {
        std::vector<double> values;
        int n = 1;  ///< tokens; 0: there is nothing to show yet
    };
    std::function<Shown(const std::vector<StepRecord>&)> parts;  ///< of a lane's records, of which there are some
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
    QString countWords(int lane) const override;
    bool tokensAlongX() const override { return chart() != bars_; }

 private:
    void fillRows();
    Readout legend() const;
    QString meanWords() const;  ///< "mean of the last 32"; "" where it is of one token

    PartsOfLane parts_;
    BarsChart* bars_;
    QMap<int, int> n_tokens_;  // of the bars, by lane
};

}  // namespace kvasir::ui
