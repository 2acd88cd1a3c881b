// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_style.h"

#include <cmath>
#include <initializer_list>

#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {
constexpr double kNarrow = 201;  // a logarithmic axis of about two decades shows plain figures
}

void drawMarker(QPainter& painter, QPointF at, double size, const LaneLook& look, const QColor& ground, bool line) {
    const double r = size / 2;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(look.hollow ? QPen(look.colour, look.pen) : QPen(Qt::NoPen));
    painter.setBrush(look.hollow ? ground : look.colour);
    QPolygonF shape;
    switch (look.marker) {
        case LaneMarker::none:
            if (line) {
                painter.setPen(QPen(look.colour, look.pen, Qt::SolidLine, Qt::FlatCap));
                painter.drawLine(at - QPointF(r + 1, 0), at + QPointF(r + 1, 0));
            }
            break;
        case LaneMarker::disc:
            painter.drawEllipse(at, r, r);
            break;
        case LaneMarker::square:
            painter.drawRect(QRectF(at.x() - r * 0.9, at.y() - r * 0.9, r * 1.8, r * 1.8));
            break;
        case LaneMarker::diamond:
            shape << at + QPointF(0, -r * 1.25) << at + QPointF(r * 1.25, 0) << at + QPointF(0, r * 1.25)
                  << at + QPointF(-r * 1.25, 0);
            break;
        case LaneMarker::triangle:
            shape << at + QPointF(0, -r * 1.15) << at + QPointF(r * 1.15, r * 0.9) << at + QPointF(-r * 1.15, r * 0.9);
            break;
        case LaneMarker::triangle_down:
            shape << at + QPointF(0, r * 1.15) << at + QPointF(r * 1.15, -r * 0.9) << at + QPointF(-r * 1.15, -r * 0.9);
            break;
    }
    if (!shape.isEmpty()) painter.drawPolygon(shape);
    painter.restore();
}

void styleAxis(QCPAxis& axis, const Theme& theme) {
    const QColor dim = theme.colour(QStringLiteral("dim"));
    const bool horizontal = QCPAxis::orientation(axis.axisType()) == Qt::Horizontal;
    axis.setBasePen(QPen(dim, 1));
    axis.setTickPen(QPen(dim, 1));
    axis.setSubTickPen(QPen(dim, 1));
    axis.setTickLength(0, theme.px(4));
    axis.setSubTickLength(0, theme.px(2));
    axis.setTickLabelColor(dim);
    axis.setLabelColor(dim);
    axis.setTickLabelFont(theme.font(8.5));
    axis.setLabelFont(theme.font(9));
    axis.setTickLabelPadding(theme.px(2));
    axis.setLabelPadding(theme.px(1));  // the margins hold both lines at every type size
    axis.grid()->setVisible(!horizontal);
    axis.grid()->setPen(QPen(theme.colour(QStringLiteral("grid")), 1));
    axis.grid()->setZeroLinePen(Qt::NoPen);
}

QString PlainTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return axisText(tick);
}

double WholeTicker::getTickStep(const QCPRange& range) {
    return std::max(1.0, std::round(QCPAxisTicker::getTickStep(range)));
}

int WholeTicker::getSubTickCount(double step) {
    return step <= 1 ? 0 : QCPAxisTicker::getSubTickCount(step);
}

QVector<double> DecadeTicker::createTickVector(double step, const QCPRange& range) {
    narrow_ = range.lower > 0 && range.upper / range.lower < kNarrow;
    if (!narrow_) return QCPAxisTickerLog::createTickVector(step, range);
    QVector<double> ticks;
    const double first = std::pow(10.0, std::floor(std::log10(range.lower)));
    const auto add = [&](std::initializer_list<double> digits) {
        ticks.clear();
        int n = 0;
        for (double decade = first; decade <= range.upper * 10; decade *= 10)
            for (const double digit : digits) {
                ticks << digit * decade;
                n += range.contains(digit * decade);
            }
        return n;
    };
    constexpr int kAll = 5;  // nothing has asked for fewer
    if (add({1, 2, 5}) > mTickCount && mTickCount < kAll && add({1, 3}) > mTickCount) add({1});
    return ticks;
}

/// The exponent is told by its letter, and that is another one in some languages: figures are those of C everywhere.
QString DecadeTicker::getTickLabel(double tick, const QLocale&, QChar format, int precision) {
    return narrow_ ? axisText(tick) : QCPAxisTickerLog::getTickLabel(tick, QLocale::c(), format, precision);
}

int DecadeTicker::getSubTickCount(double step) {
    return narrow_ ? 0 : QCPAxisTickerLog::getSubTickCount(step);
}

void setAxisLog(QCPAxis& axis, bool log) {
    axis.setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (log) {
        axis.setTicker(QSharedPointer<DecadeTicker>::create());
        axis.setNumberFormat(QStringLiteral("eb"));
        axis.setNumberPrecision(0);
    } else {
        axis.setTicker(QSharedPointer<PlainTicker>::create());
        axis.setNumberFormat(QStringLiteral("g"));
        axis.setNumberPrecision(6);
    }
}

namespace {

bool ticksFit(const QCPAxis& axis) {
    const bool horizontal = QCPAxis::orientation(axis.axisType()) == Qt::Horizontal;
    const QFontMetricsF metrics(axis.tickLabelFont());
    const QVector<double> ticks = axis.tickVector();
    const QVector<QString> labels = axis.tickVectorLabels();
    double before = 0, extent_before = 0;
    bool any = false;
    for (qsizetype i = 0; i < ticks.size() && i < labels.size(); ++i) {
        if (!axis.range().contains(ticks[i])) continue;
        const double at = axis.coordToPixel(ticks[i]);
        const double extent = horizontal ? metrics.horizontalAdvance(labels[i]) + metrics.height() / 2
                                         : metrics.ascent() + metrics.descent() / 2;
        if (any && std::abs(at - before) < (extent + extent_before) / 2) return false;
        any = true;
        before = at;
        extent_before = extent;
    }
    return true;
}

}  // namespace

void fitTicks(QCPAxis& axis) {
    constexpr int kMost = 5;
    for (int count = kMost;; --count) {
        axis.ticker()->setTickCount(count);
        axis.axisRect()->update(QCPLayoutElement::upPreparation);  // makes the ticks anew
        if (count == 1 || ticksFit(axis)) return;
    }
}

double oneTwoFive(double value, bool up) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    double below = decade;
    for (const double digit : {1.0, 2.0, 5.0, 10.0}) {
        const double step = digit * decade;
        if (std::abs(step - value) <= 1e-9 * value) return step;
        if (step > value) return up ? step : below;
        below = step;
    }
    return below;
}

double niceAbove(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double digit : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (digit * decade >= value * (1 - 1e-12)) return digit * decade;
    return 10 * decade;
}

}  // namespace kvasir::ui
