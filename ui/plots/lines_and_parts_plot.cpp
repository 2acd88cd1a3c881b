// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lines_and_parts_plot.h"

#include <algorithm>

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
    n_tokens_.clear();
    if (run().empty()) return bars_->setRows({}, parts_.unit);
    for (const LinesChart::Line& line : lines()->lines()) {
        const std::vector<StepRecord>& records = run().lane(line.lane);
        if (records.empty()) continue;
        const PartsOfLane::Shown shown = parts_.parts(records);
        if (shown.n == 0) continue;
        n_cached = records.back().n_cached;
        n_tokens_[line.lane] = shown.n;
        rows << BarRow{line.lane,    line.reference,
                       line.index,   laneName(run(), line.lane),
                       shown.values, view().laneShown(line.lane)};
    }
    QStringList words{parts_.unit};
    if (parts_.mean) words << meanWords();
    words << tr("at %1 cached tokens").arg(countText(n_cached));
    bars_->setRows(rows, words.join(parts_.mean ? QStringLiteral(", ") : QStringLiteral(" ")));
}

QString LinesAndPartsPlot::meanWords() const {
    if (!parts_.mean || n_tokens_.isEmpty()) return {};
    const auto [fewest, most] = std::minmax_element(n_tokens_.begin(), n_tokens_.end());
    return *fewest == *most ? tr("mean of the last %1").arg(*most)
                            : tr("mean of the last %1 to %2").arg(*fewest).arg(*most);
}

QString LinesAndPartsPlot::countWords(int lane) const {
    if (chart() != bars_) return LaneLinesPlot::countWords(lane);
    return parts_.mean ? tr("mean of the last %1").arg(n_tokens_.value(lane)) : QString();
}

Readout LinesAndPartsPlot::legend() const {
    Readout readout;
    if (const QString mean = meanWords(); !mean.isEmpty()) readout << ReadoutPart::plain(mean);
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
