// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lines_and_parts_plot.h"

#include "ui/plots/plot_text.h"

namespace kvasir::ui {

LinesAndPartsPlot::LinesAndPartsPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, const Measure& measure,
                                     const QString& over_tokens, const PartsOfLane& parts, QWidget* parent)
    : LaneLinesPlot(feed, view, texts, {measure}, parent), parts_(parts), bars_(new BarsChart) {
    bars_->setParts(parts.styles, parts.decimals);
    addChart(bars_);
    addChoice(over_tokens, [this] {
        showChart(lines());
        catchUp();
    });
    addChoice(parts.choice, [this] {
        showChart(bars_);
        catchUp();
    });
}

void LinesAndPartsPlot::showParts() {
    choose(1);
}

void LinesAndPartsPlot::takeRecords() {
    LaneLinesPlot::takeRecords();
    fillRows();
}

void LinesAndPartsPlot::lanesShown() {
    LaneLinesPlot::lanesShown();
    fillRows();
}

void LinesAndPartsPlot::fillRows() {
    QVector<BarRow> rows;
    int n_cached = 0;
    if (run().empty()) return bars_->setRows({}, parts_.unit);
    for (const LinesChart::Line& line : lines()->lines()) {
        const std::vector<StepRecord>& records = run().lane(line.lane);
        if (records.empty()) continue;
        n_cached = records.back().n_cached;
        rows << BarRow{line.lane,
                       line.reference,
                       line.index,
                       laneName(run(), line.lane),
                       parts_.parts(records.back()),
                       view().laneShown(line.lane)};
    }
    bars_->setRows(rows, tr("%1 at %2 cached tokens").arg(parts_.unit, countText(n_cached)));
}

Readout LinesAndPartsPlot::legend() const {
    Readout readout;
    for (int i = 0; i < int(parts_.names.size()); ++i)
        readout << ReadoutPart::kind(parts_.styles[i], parts_.names[i]);
    return readout;
}

Readout LinesAndPartsPlot::makeReadout() const {
    return chart() == bars_ ? legend() : LaneLinesPlot::makeReadout();
}

Readout LinesAndPartsPlot::exportLegend() const {
    return chart() == bars_ ? legend() : LaneLinesPlot::exportLegend();
}

QString LinesAndPartsPlot::exportTitle() const {
    const QString title = LaneLinesPlot::exportTitle();
    return chart() == bars_ ? title + QStringLiteral(": ") + parts_.choice.toLower() : title;
}

}  // namespace kvasir::ui
