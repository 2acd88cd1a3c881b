// SPDX-License-Identifier: GPL-3.0-or-later
// Everything on a figure that is no line: markers, spread bars, names, words on limits and beside markers.
#pragma once

#include <qcustomplot.h>

#include "ui/shell/theme.h"

namespace kvasir::ui {

class FigureChart;
struct FigureLimit;

class FigureMarks : public QCPLayerable {
    Q_OBJECT
 public:
    explicit FigureMarks(FigureChart* chart);
    void applyTheme(const Theme& theme) { theme_ = &theme; }

    /// What was written where when it was last drawn; no two overlap.
    const QVector<QRectF>& textRects() const { return text_; }

 protected:
    QRect clipRect() const override { return mParentPlot->viewport(); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

 private:
    QPointF pixel(QPointF at) const;
    void drawBaseWords(QCPPainter& painter);
    void drawLimitWords(QCPPainter& painter, const FigureLimit& limit);
    bool isFree(const QRectF& box, const QTransform& turned) const;
    void drawMarkers(QCPPainter& painter);
    void drawPointWords(QCPPainter& painter);
    void drawNames(QCPPainter& painter);

    FigureChart* chart_;
    const Theme* theme_ = &Theme::instance();
    QVector<QRectF> text_, taken_;  ///< taken: where no words beside markers may stand
    QVector<QLineF> strokes_;       ///< lines on the figure that words keep clear of
};

}  // namespace kvasir::ui
