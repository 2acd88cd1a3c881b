// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/floored_graph.h"

#include <algorithm>

namespace kvasir::ui {

double FlooredGraph::depth(const QPointF& at) const {
    const double level = floor_.levelAt(keyAxis()->pixelToCoord(at.x()));
    if (level <= 0) return -1;
    const double below_upper = at.y() - valueAxis()->coordToPixel(level);  // pixels grow downwards
    if (!floor_.mirrored()) return below_upper;
    return std::min(below_upper, valueAxis()->coordToPixel(-level) - at.y());
}

bool FlooredGraph::insideFloor(double key, double value) const {
    return !floor_.empty() && depth({keyAxis()->coordToPixel(key), valueAxis()->coordToPixel(value)}) > 0;
}

/// `lines` are the corners of the curve in pixels. It changes its pen where it crosses the edge of the band.
void FlooredGraph::drawLinePlot(QCPPainter* painter, const QVector<QPointF>& lines) const {
    if (floor_.empty() || lines.isEmpty()) return QCPGraph::drawLinePlot(painter, lines);
    QVector<QPointF> piece{lines.front()};
    double before = depth(lines.front());
    const auto draw = [&] {
        painter->setPen(before > 0 ? inside_ : pen());
        QCPGraph::drawLinePlot(painter, piece);
    };
    for (qsizetype i = 1; i < lines.size(); ++i) {
        const double now = depth(lines[i]);
        if ((before > 0) != (now > 0)) {
            const QPointF crossing = lines[i - 1] + (lines[i] - lines[i - 1]) * (before / (before - now));
            piece << crossing;
            draw();
            piece = {crossing};
        }
        piece << lines[i];
        before = now;
    }
    draw();
}

}  // namespace kvasir::ui
