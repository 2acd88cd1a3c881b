// SPDX-License-Identifier: GPL-3.0-or-later
// Markers on lane lines and the labels at their ends, instead of a legend.
#pragma once

#include <qcustomplot.h>

#include <QVector>

#include "ui/plots/floored_graph.h"

namespace kvasir::ui {

/// One labelled line.
struct LaneMark {
    int lane = 0;
    LaneLook look;
    QString name;
    FlooredGraph* line = nullptr;
    FlooredGraph* raw = nullptr;    ///< thin below the line; nullptr where there is none
    QCPGraph* predicted = nullptr;  ///< gives the label its place while the line has no points
    bool shown = true;
};

/// Drawn above the lines: about six markers each, at the same x for all lanes, and one at every point that no line
/// reaches because the tokens beside it have no value; at the right edge marker, letter and short name, moved apart so
/// that none covers another. Where they have no room below each other they stand in columns of marker and letter, and
/// the tooltip has the name. A lane that is off is greyed and keeps its place.
class LaneMarks : public QCPLayerable {
    Q_OBJECT
 public:
    explicit LaneMarks(QCustomPlot* plot);
    void setMarks(const QVector<LaneMark>& marks) { marks_ = marks; }
    const QVector<LaneMark>& marks() const { return marks_; }
    void applyTheme(const Theme& theme);
    int laneAt(QPointF at) const;  ///< of the label there, or -1
    QVector<QRectF> labelRects() const;
    QString nameAt(QPointF at) const;  ///< letter and name of the label there, or ""

 protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

 private:
    void drawMarkers(QCPPainter* painter) const;
    void drawLonePoints(QCPPainter* painter, const LaneMark& mark) const;
    void placeLabels(double text_height);

    struct Label {
        int mark;
        QRectF rect;
    };
    int labelAt(QPointF at) const;
    QVector<LaneMark> marks_;
    QVector<Label> labels_;  // top to bottom, as last drawn
    bool letters_only_ = false;
    QFont font_;
    QColor ground_, off_, inside_;
    double marker_size_ = 7, gap_ = 6;
};

}  // namespace kvasir::ui
