// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lane_marks.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/label_spread.h"
#include "ui/plots/plot_style.h"

namespace kvasir::ui {

namespace {

/// The line's value at the right end of what is in sight; NaN when the line has no point there.
double endValue(const QCPGraph& line, double upper) {
    const auto data = line.data();
    auto it = data->findEnd(upper, false);
    while (it != data->constBegin()) {
        --it;
        if (!std::isnan(it->value)) return it->value;
    }
    return std::nan("");
}

/// Does a line reach the point? Not between two gaps.
bool stands_alone(const QCPGraphDataContainer& data, QCPGraphDataContainer::const_iterator point) {
    if (std::isnan(point->value)) return false;
    const auto next = point + 1;
    return (point == data.constBegin() || std::isnan((point - 1)->value)) &&
           (next == data.constEnd() || std::isnan(next->value));
}

}  // namespace

LaneMarks::LaneMarks(QCustomPlot* plot) : QCPLayerable(plot, QStringLiteral("main")) {}

void LaneMarks::applyTheme(const Theme& theme) {
    font_ = theme.font(9, true);
    ground_ = theme.colour(QStringLiteral("base"));
    off_ = theme.colour(QStringLiteral("dim"));
    off_.setAlphaF(0.55f);
    inside_ = theme.colour(QStringLiteral("dim"));
    marker_size_ = theme.px(7);
    gap_ = theme.px(6);
}

void LaneMarks::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

void LaneMarks::drawMarkers(QCPPainter* painter) const {
    const QCPAxis *x = mParentPlot->xAxis, *y = mParentPlot->yAxis;
    const QRect area = mParentPlot->axisRect()->rect();
    const double step = std::max(1.0, std::round(x->range().size() / 6));
    painter->save();
    painter->setClipRect(area.adjusted(-4, -4, 4, 4));
    for (const LaneMark& mark : marks_) {
        if (!mark.shown) continue;
        drawLonePoints(painter, mark);
        if (mark.look.marker == LaneMarker::none) continue;
        const auto data = mark.line->data();
        for (double at = std::ceil(x->range().lower / step - 0.5) * step + step / 2; at < x->range().upper;
             at += step) {
            const auto point = data->findBegin(at, false);
            if (point == data->constEnd() || point->key > at + step / 2 || std::isnan(point->value)) continue;
            const QPointF place(x->coordToPixel(point->key), y->coordToPixel(point->value));
            if (QRectF(area).contains(place)) drawMarker(*painter, place, marker_size_, mark.look, ground_);
        }
    }
    painter->restore();
}

void LaneMarks::drawLonePoints(QCPPainter* painter, const LaneMark& mark) const {
    const QCPAxis *x = mParentPlot->xAxis, *y = mParentPlot->yAxis;
    const QRectF area = mParentPlot->axisRect()->rect();
    for (const FlooredGraph* graph : {mark.raw, mark.line}) {
        if (!graph) continue;
        const bool thin = graph != mark.line;
        const auto& data = *graph->data();
        for (auto point = data.findBegin(x->range().lower, false); point != data.findEnd(x->range().upper, false);
             ++point) {
            if (!stands_alone(data, point)) continue;
            const QPointF place(x->coordToPixel(point->key), y->coordToPixel(point->value));
            if (!area.adjusted(-1, -1, 1, 1).contains(place)) continue;
            LaneLook look = mark.look;
            if (graph->insideFloor(point->key, point->value)) look.colour = inside_;
            if (thin) look.colour.setAlphaF(0.5f);
            drawMarker(*painter, place, marker_size_ * (thin ? 0.6 : 1), look, ground_, true);
        }
    }
}

void LaneMarks::placeLabels(double text_height) {
    const QRect area = mParentPlot->axisRect()->rect();
    const double left = mParentPlot->axisRect()->right() + gap_ / 2,
                 width = std::max(0.0, mParentPlot->viewport().right() - left);
    // half a line more than the axis has, above and below: the margins are free there
    const double top = std::max(double(mParentPlot->viewport().top()), area.top() - text_height / 2),
                 bottom = area.bottom() + text_height / 2;
    QVector<std::pair<double, int>> order;  // place at the end of the line, mark
    for (int i = 0; i < int(marks_.size()); ++i) {
        const bool expected = marks_[i].predicted && marks_[i].line->dataCount() == 0;
        const double value =
            endValue(expected ? *marks_[i].predicted : *marks_[i].line, mParentPlot->xAxis->range().upper);
        // without a value (all NaN, or nothing yet) the label waits at the bottom
        const double y = std::isfinite(value) ? mParentPlot->yAxis->coordToPixel(value) : area.bottom();
        order << std::pair(std::clamp(std::isnan(y) ? bottom : y, double(area.top()), double(area.bottom())), i);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    labels_.clear();
    const int n = int(order.size()), n_rows = std::max(1, int((bottom - top) / std::max(text_height, 1.0)));
    letters_only_ = n > n_rows;
    if (letters_only_) {
        const int n_columns = (n + n_rows - 1) / n_rows;
        const double column = width / n_columns;
        for (int i = 0; i < n; ++i)
            labels_ << Label{order[i].second, QRectF(left + i % n_columns * column, top + i / n_columns * text_height,
                                                     column, text_height)};
        return;
    }
    QVector<double> centres;
    for (const auto& [y, mark] : order)
        centres << y;
    centres = spreadLabels(centres, text_height, top, bottom);
    for (int i = 0; i < n; ++i)
        labels_ << Label{order[i].second, QRectF(left, centres[i] - text_height / 2, width, text_height)};
}

void LaneMarks::draw(QCPPainter* painter) {
    drawMarkers(painter);
    painter->setFont(font_);
    const QFontMetricsF metrics(font_, painter->device());
    placeLabels(metrics.height());
    for (const Label& label : labels_) {
        LaneMark mark = marks_[label.mark];
        if (!mark.shown) mark.look.colour = off_;
        const double left = label.rect.left() + gap_ / 2, middle = label.rect.center().y();
        drawMarker(*painter, {left + marker_size_ / 2, middle}, marker_size_, mark.look, ground_);
        const double text_left = mark.look.marker == LaneMarker::none ? left : left + marker_size_ + gap_ * 0.8;
        const QString text = letters_only_ ? mark.look.letter
                                           : metrics.elidedText(mark.look.letter + QStringLiteral("  ") + mark.name,
                                                                Qt::ElideRight, label.rect.right() - text_left);
        painter->setPen(QPen(mark.look.colour));
        painter->drawText(QPointF(text_left, middle + (metrics.ascent() - metrics.descent()) / 2), text);
    }
}

QVector<QRectF> LaneMarks::labelRects() const {
    QVector<QRectF> rects;
    for (const Label& label : labels_)
        rects << label.rect;
    return rects;
}

int LaneMarks::labelAt(QPointF at) const {
    for (int i = 0; i < int(labels_.size()); ++i)
        if (labels_[i].rect.contains(at)) return labels_[i].mark;
    return -1;
}

int LaneMarks::laneAt(QPointF at) const {
    const int mark = labelAt(at);
    return mark < 0 ? -1 : marks_[mark].lane;
}

QString LaneMarks::nameAt(QPointF at) const {
    const int mark = labelAt(at);
    return mark < 0 ? QString() : marks_[mark].look.letter + QStringLiteral("  ") + marks_[mark].name;
}

}  // namespace kvasir::ui
