// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/bars_chart.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {

double sum(const std::vector<double>& parts) {
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    return std::isfinite(sum) ? sum : 0;  // such a row has no bar
}

}  // namespace

double StackedBars::rowCentre(int row) const {
    const QRect area = mParentPlot->axisRect()->rect();
    return area.top() + (row + 0.5) * area.height() / std::max<qsizetype>(rows.size(), 1);
}

double StackedBars::rowHeight() const {
    const double slot = double(mParentPlot->axisRect()->height()) / double(std::max<qsizetype>(rows.size(), 1));
    return std::min(slot * 0.6, double(theme->px(18)));
}

int StackedBars::rowAt(QPointF at) const {
    if (at.x() > mParentPlot->axisRect()->left()) return -1;  // only the names are buttons
    for (int row = 0; row < int(rows.size()); ++row)
        if (std::abs(at.y() - rowCentre(row)) <= rowHeight() / 2 + 2) return row;
    return -1;
}

int StackedBars::laneAt(QPointF at) const {
    const int row = rowAt(at);
    return row < 0 ? -1 : rows[row].lane;
}

QString StackedBars::nameAt(QPointF at) const {
    const int row = rowAt(at);
    return row < 0 ? QString() : rows[row].name;
}

void StackedBars::draw(QCPPainter* painter) {
    const QRect area = mParentPlot->axisRect()->rect();
    const QCPAxis* x = mParentPlot->xAxis;
    QColor off = theme->colour(QStringLiteral("dim"));
    off.setAlphaF(0.55f);
    const QFont name_font = theme->font(9), total_font = theme->font(9, true);
    const QFontMetricsF metrics(name_font, painter->device());
    const double middle = (metrics.ascent() - metrics.descent()) / 2;
    for (int i = 0; i < int(rows.size()); ++i) {
        const BarRow& row = rows[i];
        const LaneLook look = theme->lane(row.index, row.reference);
        const double y = rowCentre(i), height = rowHeight();
        if (row.parts.empty()) {
            painter->setFont(total_font);
            painter->setPen(theme->colour(QStringLiteral("dim")));
            painter->drawText(QPointF(theme->px(8), y + middle), row.name);
            continue;
        }
        painter->setFont(name_font);
        painter->setPen(row.shown ? theme->colour(QStringLiteral("text")) : off);
        const QString name = look.letter + QStringLiteral("  ") + row.name;
        const double room = area.left() - theme->px(8);
        const QString cut = metrics.elidedText(name, Qt::ElideRight, room - 2);
        painter->drawText(QPointF(room - metrics.horizontalAdvance(cut), y + middle), cut);
        if (!row.shown) continue;
        if (const double all = std::accumulate(row.parts.begin(), row.parts.end(), 0.0); !std::isfinite(all)) {
            painter->drawText(QPointF(area.left() + theme->px(5), y + middle), BarsChart::tr("not finite"));
            continue;
        }
        painter->save();
        painter->setClipRect(area.adjusted(0, 0, 1, 0));
        double from = 0;
        for (size_t part = 0; part < row.parts.size(); ++part) {
            if (row.parts[part] <= 0) continue;
            const double left = x->coordToPixel(from), right = x->coordToPixel(from + row.parts[part]);
            from += row.parts[part];
            const double gap = right - left > 3 ? 1 : 0;  // a hair between kinds, where there is room for it
            fillPart(*painter, QRectF(left, y - height / 2, std::max(right - left - gap, 0.5), height), look.colour,
                     styles[int(part)]);
        }
        painter->restore();
        const double end = x->coordToPixel(from);
        if (end < area.left() || end > area.right()) continue;
        painter->setFont(total_font);
        painter->setPen(theme->colour(QStringLiteral("text")));
        painter->drawText(QPointF(end + theme->px(5), y + middle), fixedText(from, decimals));
    }
}

BarsChart::BarsChart(QWidget* parent) : Chart(parent), bars_(new StackedBars(this)) {
    setAxisLog(*xAxis, false);
    yAxis->setTicks(false);
    yAxis->setTickLabels(false);
    BarsChart::applyTheme(Theme::instance());
}

void BarsChart::setParts(const QVector<PartStyle>& styles, int decimals) {
    bars_->styles = styles;
    bars_->decimals = decimals;
}

void BarsChart::setRows(const QVector<BarRow>& rows, const QString& axis_label) {
    bars_->rows = rows;
    setAxisLabel(*xAxis, axis_label);
}

void BarsChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    bars_->theme = &theme;
    axisRect()->setMargins(QMargins(theme.px(118), theme.px(8), theme.px(52), theme.px(40)));
    setMinimumSize(theme.px(220), kLeastArea + theme.px(8) + theme.px(40));
    yAxis->grid()->setVisible(false);
}

void BarsChart::fit() {
    double longest = 0;
    for (const BarRow& row : bars_->rows)
        if (row.shown) longest = std::max(longest, sum(row.parts));
    xAxis->setRange(0, longest > 0 ? niceAbove(longest) : 1);
    yAxis->setRange(0, 1);
}

}  // namespace kvasir::ui
