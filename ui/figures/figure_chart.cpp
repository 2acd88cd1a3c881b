// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/figures/figure_chart.h"

#include <algorithm>

#include "ui/figures/figure_data.h"
#include "ui/figures/figure_marks.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {
constexpr int kWidestName = 190;  // px at scale 1; longer names are cut
}

FigureChart::FigureChart(QWidget* parent) : Chart(parent), marks_(new FigureMarks(this)) {}

void FigureChart::setAxes(const QString& x, bool x_log, const QString& y, bool y_log) {
    setAxisLabel(*xAxis, x);
    setAxisLabel(*yAxis, y);
    setAxisLog(*xAxis, x_log);
    setAxisLog(*yAxis, y_log);
}

void FigureChart::setXTicks(const QVector<double>& ticks) {
    const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    for (const double tick : ticks)
        ticker->addTick(tick, axisText(tick));
    xAxis->setTicker(ticker);
}

void FigureChart::finish() {
    for (const FigureBase& base : bases_) {
        QCPGraph* graph = addGraph();
        graph->setData({x_.lower, x_.upper}, {base.top, base.top}, true);
        base_graphs_ << graph;
    }
    const auto curve = [this](const QVector<QPointF>& points) {
        auto* made = new QCPCurve(xAxis, yAxis);
        QVector<double> t, x, y;
        for (const QPointF& p : points)
            t << double(t.size()), x << p.x(), y << p.y();
        made->setData(t, x, y, true);
        return made;
    };
    for (const FigureLimit& limit : limits_)
        limit_curves_ << curve(limit.points);
    for (const FigureLine& line : lines_) {
        QVector<QPointF> points;
        for (const FigurePoint& p : line.points)
            points << QPointF(p.x, p.y);
        line_curves_ << curve(points);
    }
    marks_->setLayer(QStringLiteral("legend"));  // above the axes: a marker may stand on one
    fit();
    applyTheme(Theme::instance());
}

LaneLook FigureChart::look(const FigureLine& line) const {
    return lookOf(theme(), line.index, line.reference, line.condition);
}

void FigureChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    const double scale = theme.typeScale();
    for (qsizetype i = 0; i < line_curves_.size(); ++i) {
        const LaneLook look = this->look(lines_[i]);
        line_curves_[i]->setPen(QPen(look.colour, look.pen * scale, lines_[i].style));
    }
    for (qsizetype i = 0; i < limit_curves_.size(); ++i) {
        const int line = limits_[i].line;
        const QColor colour =
            line == FigureLimit::kNoLine ? theme.colour(QStringLiteral("text")) : look(lines_[line]).colour;
        limit_curves_[i]->setPen(QPen(colour, scale, line == FigureLimit::kNoLine ? Qt::SolidLine : Qt::DashLine));
    }
    QColor shade = theme.colour(QStringLiteral("text"));
    shade.setAlphaF(0.09f);
    for (QCPGraph* graph : base_graphs_) {
        graph->setPen(Qt::NoPen);
        graph->setBrush(shade);
    }
    const QFontMetricsF metrics(theme.font(9, true));
    double widest = 0;
    for (const FigureLine& line : lines_)
        if (!line.name.isEmpty())
            widest = std::max(widest, metrics.horizontalAdvance(look(line).letter + QStringLiteral("  ") + line.name));
    const int right = int(std::min(widest, double(theme.px(kWidestName)))) + theme.px(32);
    // above: half a tick label, which is left out where it would be cut
    axisRect()->setMargins(QMargins(theme.px(58), theme.px(11), right, theme.px(40)));
    marks_->applyTheme(theme);
}

void FigureChart::fit() {
    xAxis->setRange(x_);
    yAxis->setRange(y_);
}

}  // namespace kvasir::ui
