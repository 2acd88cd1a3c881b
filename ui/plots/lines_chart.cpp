// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lines_chart.h"

#include "ui/plots/plot_style.h"

namespace kvasir::ui {

LinesChart::LinesChart(QWidget* parent) : Chart(parent), floor_(this), marks_(new LaneMarks(this)) {
    xAxis->setTicker(QSharedPointer<WholeTicker>::create());
    setAxisLabel(*xAxis, QStringLiteral("token"));
    setQuantity({}, false);
    LinesChart::applyTheme(Theme::instance());
}

void LinesChart::clearLines() {
    clearGraphs();
    floor_.clear();
    lines_.clear();
    marks_->setMarks({});
    resetMargins();
}

void LinesChart::addLine(int lane, int index, bool reference, const QString& name, bool with_raw) {
    Line line{lane, reference, index, name, nullptr, nullptr, nullptr};
    if (with_raw) line.raw = new FlooredGraph(xAxis, yAxis, floor_);  // the plot owns its graphs
    line.line = new FlooredGraph(xAxis, yAxis, floor_);
    lines_ << line;
    restyleLines();
}

void LinesChart::addPrediction(const QVector<double>& x, const QVector<double>& y) {
    lines_.back().predicted = addGraph();
    lines_.back().predicted->setData(x, y, true);
    restyleLines();
}

void LinesChart::setLaneShown(int lane, bool shown) {
    if (shown != hidden_.contains(lane)) return;
    if (shown)
        hidden_.remove(lane);
    else
        hidden_.insert(lane);
    restyleLines();
}

void LinesChart::setQuantity(const QString& axis_label, bool log) {
    setAxisLabel(*yAxis, axis_label);
    setAxisLog(*yAxis, log);
    resetMargins();
    changeAxes();
}

void LinesChart::restyleLines() {
    QVector<LaneMark> marks;
    for (const Line& line : lines_) {
        const LaneLook look = theme().lane(line.index, line.reference);
        const bool shown = !hidden_.contains(line.lane);
        const QColor grey = theme().colour(QStringLiteral("dim"));
        const double width = look.pen * theme().typeScale();
        line.line->setPens(QPen(look.colour, width), QPen(grey, width));
        line.line->setVisible(shown);
        const auto faint = [](QColor colour, float alpha) {
            colour.setAlphaF(alpha);
            return QPen(colour, 1);
        };
        if (line.raw) line.raw->setPens(faint(look.colour, 0.3f), faint(grey, 0.3f));
        if (line.raw) line.raw->setVisible(shown);
        if (line.predicted) line.predicted->setPen(faint(look.colour, 0.5f));
        if (line.predicted) line.predicted->setVisible(shown);
        marks << LaneMark{line.lane, look, line.name, line.line, line.raw, line.predicted, shown};
    }
    marks_->setMarks(marks);
}

void LinesChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    resetMargins();
    setMinimumSize(theme.px(180), kLeastArea + theme.px(8) + theme.px(40));
    marks_->applyTheme(theme);
    floor_.applyTheme(theme);
    restyleLines();
}

void LinesChart::resetMargins() {
    axisRect()->setMargins(QMargins(theme().px(54), theme().px(8), theme().px(84), theme().px(40)));
}

void LinesChart::fit() {
    xAxis->setRange(x_);
    yAxis->setRange(y_);
}

}  // namespace kvasir::ui
