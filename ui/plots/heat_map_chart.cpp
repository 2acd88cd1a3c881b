// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heat_map_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostDecades = 1000;  // highest over lowest colour: below, differences are of no interest

QColor insideFloor(const Theme& theme) {
    return theme.colour(QStringLiteral("disabled"));
}

void widen(QCPColorMapData& data, int n_tokens, const QCPRange& positions) {
    QCPColorMapData before = data;  // its cell() is not const
    data.setSize(n_tokens, before.valueSize());
    data.setRange(positions, before.valueRange());
    data.fill(kNoValue);
    for (int t = 0; t < before.keySize(); ++t)
        for (int row = 0; row < before.valueSize(); ++row)
            data.setCell(t, row, before.cell(t, row));
}

}  // namespace

void ColourBar::draw(QCPPainter* painter) {
    if (low.isEmpty()) return;
    const QRect area = mParentPlot->axisRect()->rect();
    const QFont font = theme->font(8.5);
    const QFontMetricsF metrics(font, painter->device());
    const double gap = theme->px(6), height = theme->px(6);
    const double room = area.right() - mParentPlot->viewport().left() - theme->px(8);
    const double words = metrics.horizontalAdvance(low) + metrics.horizontalAdvance(high) + 2 * gap;
    const double width = std::clamp(room - words, 0.0, double(theme->px(90)));
    const double middle = area.top() - theme->px(12);
    const double baseline = middle + (metrics.ascent() - metrics.descent()) / 2;
    painter->setFont(font);
    painter->setPen(theme->colour(QStringLiteral("dim")));
    double x = area.right() - metrics.horizontalAdvance(high);
    painter->drawText(QPointF(x, baseline), high);
    x -= gap + width;
    const QVector<QColor> colours = theme->sequential();
    QLinearGradient gradient(x, 0, x + width, 0);
    for (int i = 0; i < int(colours.size()); ++i)
        gradient.setColorAt(double(i) / double(colours.size() - 1), colours[i]);
    const QRectF bar(x, middle - height / 2, width, height);
    painter->fillRect(bar, gradient);
    painter->drawRect(bar);
    x -= gap + metrics.horizontalAdvance(low);
    painter->drawText(QPointF(x, baseline), low);
    // the words before it give way: they stand in the tooltip too
    const double edge = mParentPlot->viewport().left() + theme->px(8);
    const QString quantity = metrics.elidedText(name, Qt::ElideRight, std::max(0.0, x - gap - edge));
    x -= gap + metrics.horizontalAdvance(quantity);
    painter->drawText(QPointF(x, baseline), quantity);
    if (grey.isEmpty()) return;
    const QString what = metrics.elidedText(grey, Qt::ElideRight, std::max(0.0, x - 4 * gap - height - edge));
    if (what.size() < 3 && what != grey) return;
    x -= 3 * gap + metrics.horizontalAdvance(what);
    painter->drawText(QPointF(x, baseline), what);
    const QRectF swatch(x - gap - height, middle - height / 2, height, height);
    painter->fillRect(swatch, insideFloor(*theme));
    painter->drawRect(swatch);
}

HeatMapChart::HeatMapChart(QWidget* parent)
    : Chart(parent),
      map_(new QCPColorMap(xAxis, yAxis)),
      grey_(new QCPColorMap(xAxis, yAxis)),
      bar_(new ColourBar(this)) {
    map_->setInterpolate(false);
    grey_->setInterpolate(false);
    map_->setDataScaleType(QCPAxis::stLogarithmic);
    grey_->setDataRange(QCPRange(0, 1));
    xAxis->setTicker(QSharedPointer<WholeTicker>::create());
    yAxis->setTicker(QSharedPointer<WholeTicker>::create());
    setAxisLabel(*xAxis, QStringLiteral("token"));
    setAxisLabel(*yAxis, QStringLiteral("layer"));
    HeatMapChart::applyTheme(Theme::instance());
}

void HeatMapChart::begin(int first_position, int n_tokens, int n_rows, const QString& quantity) {
    first_ = last_ = first_position;
    n_tokens_ = std::max(n_tokens, 2);  // a map of one column has no width
    n_rows_ = std::max(n_rows, 2);
    for (QCPColorMap* map : {map_, grey_}) {
        map->data()->setSize(n_tokens_, n_rows_);
        map->data()->setRange(QCPRange(first_, first_ + n_tokens_ - 1), QCPRange(0, n_rows_ - 1));
        map->data()->fill(kNoValue);
    }
    least_ = std::numeric_limits<double>::infinity(), most_ = 0;
    bar_->name = quantity;
    bar_->low.clear();
    bar_->grey.clear();
}

void HeatMapChart::setColumn(int position, const std::vector<float>& values) {
    const int column = position - first_;
    if (column >= n_tokens_) {  // more tokens than were planned: twice the room
        n_tokens_ *= 2;
        for (QCPColorMap* map : {map_, grey_})
            widen(*map->data(), n_tokens_, QCPRange(first_, first_ + n_tokens_ - 1));
    }
    for (int row = 0; row < int(values.size()) && row < n_rows_; ++row) {
        const double value = double(values[size_t(row)]);
        if (!std::isfinite(value) || value < 0) continue;
        map_->data()->setCell(column, row, value);
        if (value <= 0) continue;
        least_ = std::min(least_, value);
        most_ = std::max(most_, value);
    }
    updateRange();
}

bool HeatMapChart::holds(int position, int row) const {
    return position >= first_ && position < first_ + n_tokens_ && row >= 0 && row < n_rows_;
}

double HeatMapChart::cell(int position, int row) const {
    return holds(position, row) ? map_->data()->cell(position - first_, row) : kNoValue;
}

void HeatMapChart::setFloor(int position, const std::vector<float>& levels, const QString& what) {
    for (int row = 0; row < int(levels.size()); ++row) {
        if (!(cell(position, row) <= double(levels[size_t(row)]))) continue;
        grey_->data()->setCell(position - first_, row, 1);
        bar_->grey = what;
    }
}

bool HeatMapChart::isGrey(int position, int row) const {
    return holds(position, row) && grey_->data()->cell(position - first_, row) > 0;
}

void HeatMapChart::updateRange() {
    if (most_ <= 0) return;
    const double high = oneTwoFive(most_, true);
    const double low = std::min(std::max(oneTwoFive(least_, false), high / kMostDecades), high / 10);
    map_->setDataRange(QCPRange(low, high));
    bar_->low = (least_ < low ? QStringLiteral("≤ ") : QString()) + axisText(low);
    bar_->high = axisText(high);
}

QString HeatMapChart::tipAt(QPointF at) const {
    if (at.y() >= axisRect()->top() || bar_->low.isEmpty()) return Chart::tipAt(at);
    const QString scale = QStringLiteral("%1: %2 … %3").arg(bar_->name, bar_->low, bar_->high);
    return bar_->grey.isEmpty() ? scale : scale + QLatin1Char('\n') + tr("grey: %1").arg(bar_->grey);
}

void HeatMapChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    bar_->theme = &theme;
    axisRect()->setMargins(QMargins(theme.px(54), theme.px(24), theme.px(12), theme.px(40)));
    setMinimumSize(theme.px(180), kLeastArea + theme.px(24) + theme.px(40));
    yAxis->grid()->setVisible(false);
    const QVector<QColor> colours = theme.sequential();
    QMap<double, QColor> stops;
    for (int i = 0; i < int(colours.size()); ++i)
        stops[double(i) / double(colours.size() - 1)] = colours[i];
    QCPColorGradient gradient;
    gradient.setColorStops(stops);
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    map_->setGradient(gradient);
    gradient.setColorStops({{0, insideFloor(theme)}, {1, insideFloor(theme)}});
    grey_->setGradient(gradient);
}

void HeatMapChart::fit() {
    xAxis->setRange(first_ - 0.5, std::max(last_, first_ + 1) + 0.5);
    yAxis->setRange(-0.5, n_rows_ - 0.5);
}

}  // namespace kvasir::ui
