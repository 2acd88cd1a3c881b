// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lines_chart.h"

#include "ui/plots/plot_style.h"

namespace kvasir::ui {

LinesChart::LinesChart(QWidget* parent) : Chart(parent), floor_(this), marks_(new LaneMarks(this)) {
    xAxis->setTicker(QSharedPointer<WholeTicker>::create());
    xAxis->setLabel(QStringLiteral("token"));
    setQuantity({}, false);
    LinesChart::applyTheme(Theme::instance());
}

void LinesChart::clearLines() {
    clearGraphs();
    floor_.clear();
    lines_.clear();
    marks_->setMarks({});
}

void LinesChart::addLine(int lane, int index, bool reference, const QString& name, bool with_raw) {
    Line line{lane, reference, index, name, nullptr, nullptr, nullptr};
    if (with_raw) line.raw = addGraph();
    line.line = addGraph();
    lines_ << line;
    restyleLines();
}

void LinesChart::addPrediction(const QVector<double>& x, const QVector<double>& y) {
    lines_.back().predicted = addGraph();
    lines_.back().predicted->setData(x, y, true);
    restyleLines();
}

void LinesChart::setLaneShown(int lane, bool shown) {
    if (shown)
        hidden_.remove(lane);
    else
        hidden_.insert(lane);
    restyleLines();
}

void LinesChart::setQuantity(const QString& axis_label, bool log) {
    yAxis->setLabel(axis_label);
    setAxisLog(*yAxis, log);
}

void LinesChart::restyleLines() {
    QVector<LaneMark> marks;
    for (const Line& line : lines_) {
        const LaneLook look = theme().lane(line.index, line.reference);
        const bool shown = !hidden_.contains(line.lane);
        line.line->setPen(QPen(look.colour, look.pen * theme().typeScale()));
        line.line->setVisible(shown);
        for (const auto& [graph, alpha] : {std::pair{line.raw, 0.3f}, {line.predicted, 0.5f}}) {
            if (!graph) continue;
            QColor faint = look.colour;
            faint.setAlphaF(alpha);
            graph->setPen(QPen(faint, 1));
            graph->setVisible(shown);
        }
        marks << LaneMark{line.lane, look, line.name, line.line, line.predicted, shown};
    }
    marks_->setMarks(marks);
}

void LinesChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    axisRect()->setMargins(QMargins(theme.px(54), theme.px(8), theme.px(84), theme.px(40)));
    marks_->applyTheme(theme);
    floor_.applyTheme(theme);
    restyleLines();
}

void LinesChart::fit() {
    xAxis->setRange(x_);
    yAxis->setRange(y_);
}

}  // namespace kvasir::ui
