// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/figures/figure_marks.h"

#include <algorithm>
#include <cmath>

#include "ui/figures/figure_chart.h"
#include "ui/plots/label_spread.h"
#include "ui/plots/plot_style.h"

namespace kvasir::ui {

namespace {

/// The part of a segment inside `area`; a null line where there is none.
QLineF inside(const QLineF& line, const QRectF& area) {
    double from = 0, to = 1;
    const double d[] = {line.dx(), line.dy()}, p[] = {line.x1(), line.y1()};
    const double low[] = {area.left(), area.top()}, high[] = {area.right(), area.bottom()};
    for (int axis = 0; axis < 2; ++axis) {
        if (d[axis] == 0) {
            if (p[axis] < low[axis] || p[axis] > high[axis]) return {};
            continue;
        }
        const double a = (low[axis] - p[axis]) / d[axis], b = (high[axis] - p[axis]) / d[axis];
        from = std::max(from, std::min(a, b));
        to = std::min(to, std::max(a, b));
    }
    return from < to ? QLineF(line.pointAt(from), line.pointAt(to)) : QLineF();
}

}  // namespace

FigureMarks::FigureMarks(FigureChart* chart) : QCPLayerable(chart, QStringLiteral("main")), chart_(chart) {}

void FigureMarks::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QPointF FigureMarks::pixel(QPointF at) const {
    return {chart_->xAxis->coordToPixel(at.x()), chart_->yAxis->coordToPixel(at.y())};
}

void FigureMarks::draw(QCPPainter* painter) {
    text_.clear(), taken_.clear(), strokes_.clear();
    const QRectF area = chart_->axisRect()->rect();
    for (const FigureLimit& limit : chart_->limits())
        for (qsizetype i = 1; i < limit.points.size(); ++i)
            strokes_ << inside({pixel(limit.points[i - 1]), pixel(limit.points[i])}, area);
    for (const FigureLine& line : chart_->lines())
        for (qsizetype i = 0; i < line.points.size(); ++i) {
            const FigurePoint& p = line.points[i];
            const QPointF at = pixel({p.x, p.y});
            const double r = p.size * theme_->typeScale() * 0.65;
            taken_ << QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r);
            if (i) strokes_ << QLineF(pixel({line.points[i - 1].x, line.points[i - 1].y}), at);
        }
    drawBaseWords(*painter);
    for (const FigureLimit& limit : chart_->limits())
        if (!limit.words.isEmpty()) drawLimitWords(*painter, limit);
    drawMarkers(*painter);
    drawPointWords(*painter);
    drawNames(*painter);
}

void FigureMarks::drawBaseWords(QCPPainter& painter) {
    const QFont font = theme_->font(8.5);
    const QFontMetricsF metrics(font, painter.device());
    painter.setFont(font);
    painter.setPen(theme_->colour(QStringLiteral("dim")));
    for (const FigureBase& base : chart_->bases()) {
        const QPointF corner = pixel({chart_->xAxis->range().lower, base.top});
        const QRectF box(corner.x() + theme_->px(8), corner.y() + theme_->px(4), metrics.horizontalAdvance(base.words),
                         metrics.height());
        painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), base.words);
        text_ << box;
        taken_ << box;
    }
}

void FigureMarks::drawLimitWords(QCPPainter& painter, const FigureLimit& limit) {
    const QLineF line =
        inside({pixel(limit.points.front()), pixel(limit.points.back())}, QRectF(chart_->axisRect()->rect()));
    if (line.isNull()) return;
    const QFont font = theme_->font(8.5, true);
    const QFontMetricsF metrics(font, painter.device());
    const double width = metrics.horizontalAdvance(limit.words), spare = line.length() - width;
    // The words stand above the line in its own direction: at the right end of a flat roof (they may begin left of it:
    // nothing should stand above a roof), low on a rising one, elsewhere when a marker or line is there.
    const double rise = metrics.descent() + theme_->px(2), margin = rise + metrics.ascent();
    const bool flat = std::abs(line.dy()) < 1;
    const QTransform turned = QTransform::fromTranslate(line.x1(), line.y1()).rotate(-line.angle());
    const auto boxAt = [&](double share) {
        const double first = flat ? std::min(double(theme_->px(4)), spare) : margin;
        const double last = flat ? spare - theme_->px(4) : std::max(first, spare - margin);
        const double from = first + (last - first) * share;
        return QRectF(from, -margin, width, metrics.height());
    };
    const QVector<double> shares = flat ? QVector<double>{1, 0.75, 0.5, 0.25, 0} : QVector<double>{0.35, 0, 0.7, 1};
    QRectF box = boxAt(shares.front());
    for (const double share : shares) {
        if (!isFree(boxAt(share), turned)) continue;
        box = boxAt(share);
        break;
    }
    painter.setFont(font);
    painter.setPen(theme_->colour(QStringLiteral("text")));
    painter.save();
    painter.setTransform(turned, true);
    painter.drawText(QPointF(box.left(), -rise), limit.words);
    painter.restore();
    if (flat) {
        text_ << turned.mapRect(box);
        taken_ << turned.mapRect(box);
    } else {
        strokes_ << turned.map(QLineF(box.topLeft(), box.topRight()))
                 << turned.map(QLineF(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y())));
    }
}

/// Does a box that is turned stay clear of everything that is on the figure so far?
bool FigureMarks::isFree(const QRectF& box, const QTransform& turned) const {
    const QTransform back = turned.inverted();
    return std::none_of(taken_.begin(), taken_.end(),
                        [&](const QRectF& other) { return back.mapRect(other).intersects(box); }) &&
           std::none_of(strokes_.begin(), strokes_.end(),
                        [&](const QLineF& stroke) { return !inside(back.map(stroke), box).isNull(); });
}

void FigureMarks::drawMarkers(QCPPainter& painter) {
    const QRectF area = chart_->axisRect()->rect();
    const QColor ground = theme_->colour(QStringLiteral("base"));
    for (const FigureLine& line : chart_->lines()) {
        const LaneLook look = chart_->look(line);
        for (const FigurePoint& p : line.points) {
            if (p.low < p.high) {
                const QLineF bar = inside({pixel({p.x, p.low}), pixel({p.x, p.high})}, area);
                painter.setPen(QPen(look.colour, theme_->typeScale(), Qt::SolidLine, Qt::FlatCap));
                if (!bar.isNull()) painter.drawLine(bar);
            }
            drawMarker(painter, pixel({p.x, p.y}), p.size * theme_->typeScale(), look, ground);
        }
    }
}

/// Each word takes the first place around its marker where it covers no text, marker or line; without one it is left
/// out, as the line it belongs to still says what it is.
void FigureMarks::drawPointWords(QCPPainter& painter) {
    const QFont font = theme_->font(8);
    const QFontMetricsF metrics(font, painter.device());
    const QRectF area = chart_->axisRect()->rect();
    painter.setFont(font);
    for (const FigureLine& line : chart_->lines())
        for (const FigurePoint& p : line.points) {
            if (p.words.isEmpty()) continue;
            const QPointF at = pixel({p.x, p.y});
            const double gap = p.size * theme_->typeScale() * 0.65 + theme_->px(2);
            const QSizeF size(metrics.horizontalAdvance(p.words), metrics.height());
            const double w = size.width(), h = size.height();
            for (const QPointF corner :
                 {QPointF(gap, -h / 2), QPointF(-gap - w, -h / 2), QPointF(-w / 2, gap), QPointF(-w / 2, -gap - h),
                  QPointF(gap * 0.7, gap * 0.5), QPointF(-gap * 0.7 - w, -gap * 0.5 - h)}) {
                const QRectF box(at + corner, size);
                if (!area.contains(box) || !isFree(box, {})) continue;
                painter.setPen(theme_->colour(QStringLiteral("dim")));
                painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), p.words);
                text_ << box;
                taken_ << box;
                break;
            }
        }
}

void FigureMarks::drawNames(QCPPainter& painter) {
    const QFont font = theme_->font(9, true);
    const QFontMetricsF metrics(font, painter.device());
    const QRectF area = chart_->axisRect()->rect();
    QVector<const FigureLine*> named;
    for (const FigureLine& line : chart_->lines())
        if (!line.name.isEmpty() && !line.points.isEmpty()) named << &line;
    const auto end = [&](const FigureLine* line) { return pixel({line->points.back().x, line->points.back().y}).y(); };
    std::stable_sort(named.begin(), named.end(),
                     [&](const FigureLine* a, const FigureLine* b) { return end(a) < end(b); });
    QVector<double> centres;
    for (const FigureLine* line : named)
        centres << std::clamp(end(line), area.top(), area.bottom());
    centres = spreadLabels(centres, metrics.height(), area.top(), area.bottom());

    const double marker = theme_->px(7), left = area.right() + theme_->px(10),
                 text_left = left + marker + theme_->px(5);
    painter.setFont(font);
    for (qsizetype i = 0; i < named.size(); ++i) {
        const LaneLook look = chart_->look(*named[i]);
        drawMarker(painter, {left + marker / 2, centres[i]}, marker, look, theme_->colour(QStringLiteral("base")));
        const QString text = metrics.elidedText(look.letter + QStringLiteral("  ") + named[i]->name, Qt::ElideMiddle,
                                                mParentPlot->viewport().right() - text_left);
        painter.setPen(look.colour);
        painter.drawText(QPointF(text_left, centres[i] + (metrics.ascent() - metrics.descent()) / 2), text);
        text_ << QRectF(text_left, centres[i] - metrics.height() / 2, metrics.horizontalAdvance(text),
                        metrics.height());
    }
}

}  // namespace kvasir::ui
