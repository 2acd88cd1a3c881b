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

}  // namespace

LaneMarks::LaneMarks(QCustomPlot* plot) : QCPLayerable(plot, QStringLiteral("main")) {}

void LaneMarks::applyTheme(const Theme& theme) {
    font_ = theme.font(9, true);
    ground_ = theme.colour(QStringLiteral("base"));
    off_ = theme.colour(QStringLiteral("dim"));
    off_.setAlphaF(0.55f);
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
        if (!mark.shown || mark.look.marker == LaneMarker::none) continue;
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

void LaneMarks::placeLabels(double text_height) {
    const QRect area = mParentPlot->axisRect()->rect();
    labels_.clear();
    for (int i = 0; i < int(marks_.size()); ++i) {
        const bool expected = marks_[i].predicted && marks_[i].line->dataCount() == 0;
        const double value =
            endValue(expected ? *marks_[i].predicted : *marks_[i].line, mParentPlot->xAxis->range().upper);
        // without a value (all NaN, or nothing yet) the label waits at the bottom
        const double y = std::isnan(value) ? area.bottom() : mParentPlot->yAxis->coordToPixel(value);
        labels_ << Label{i,
                         std::clamp(y, double(area.top()) + text_height / 2, double(area.bottom()) - text_height / 2)};
    }
    std::stable_sort(labels_.begin(), labels_.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
    QVector<double> centres;
    for (const Label& label : labels_)
        centres << label.y;
    centres = spreadLabels(centres, text_height, area.top(), area.bottom());
    for (int i = 0; i < int(labels_.size()); ++i)
        labels_[i].y = centres[i];
}

void LaneMarks::draw(QCPPainter* painter) {
    drawMarkers(painter);
    painter->setFont(font_);
    const QFontMetricsF metrics(font_, painter->device());
    placeLabels(metrics.height());
    const double left = mParentPlot->axisRect()->right() + gap_;
    const double room = mParentPlot->viewport().right() - left - marker_size_ - gap_;
    for (const Label& label : labels_) {
        LaneMark mark = marks_[label.mark];
        if (!mark.shown) mark.look.colour = off_;
        drawMarker(*painter, {left + marker_size_ / 2, label.y}, marker_size_, mark.look, ground_);
        const double text_left = mark.look.marker == LaneMarker::none ? left : left + marker_size_ + gap_ * 0.8;
        const QString text = metrics.elidedText(mark.look.letter + QStringLiteral("  ") + mark.name, Qt::ElideRight,
                                                room + (mark.look.marker == LaneMarker::none ? marker_size_ : 0));
        painter->setPen(QPen(mark.look.colour));
        painter->drawText(QPointF(text_left, label.y + (metrics.ascent() - metrics.descent()) / 2), text);
    }
}

QVector<QRectF> LaneMarks::labelRects() const {
    const double height = QFontMetricsF(font_).height();
    const double left = mParentPlot->axisRect()->right() + gap_ / 2;
    QVector<QRectF> rects;
    for (const Label& label : labels_)
        rects << QRectF(left, label.y - height / 2, mParentPlot->viewport().right() - left, height);
    return rects;
}

int LaneMarks::laneAt(QPointF at) const {
    const QVector<QRectF> rects = labelRects();
    for (int i = 0; i < int(rects.size()); ++i)
        if (rects[i].contains(at)) return marks_[labels_[i].mark].lane;
    return -1;
}

}  // namespace kvasir::ui
