// SPDX-License-Identifier: GPL-3.0-or-later
// One line per lane over the tokens, with the raw values thin below where they are noisy.
#pragma once

#include "ui/plots/chart.h"
#include "ui/plots/floored_graph.h"
#include "ui/plots/lane_marks.h"

namespace kvasir::ui {

class LinesChart : public Chart {
    Q_OBJECT
 public:
    explicit LinesChart(QWidget* parent = nullptr);

    struct Line {
        int lane = 0;
        bool reference = false;
        int index = 0;  ///< lane_mark()
        QString name;
        FlooredGraph* line = nullptr;
        FlooredGraph* raw = nullptr;    ///< nullptr where the line is what was recorded
        QCPGraph* predicted = nullptr;  ///< nullptr where nothing is predicted
    };

    void clearLines();
    /// Lines are drawn in the order they are added.
    void addLine(int lane, int index, bool reference, const QString& name, bool with_raw);
    /// What the last added line is expected to be, thin below it.
    void addPrediction(const QVector<double>& x, const QVector<double>& y);
    FloorBand& floorBand() { return floor_; }
    const FloorBand& floorBand() const { return floor_; }
    const QVector<Line>& lines() const { return lines_; }
    void setLaneShown(int lane, bool shown);

    void setQuantity(const QString& axis_label, bool log);
    /// What fit() shows.
    void setLimits(QCPRange x, QCPRange y) { x_ = x, y_ = y; }
    QVector<QRectF> labelRects() const { return marks_->labelRects(); }

    void applyTheme(const Theme& theme) override;
    void fit() override;

 protected:
    int laneLabelAt(QPointF at) const override { return marks_->laneAt(at); }
    QString tipAt(QPointF at) const override {
        const QString name = marks_->nameAt(at);
        return name.isEmpty() ? Chart::tipAt(at) : name;
    }

 private:
    void restyleLines();
    void resetMargins();

    QVector<Line> lines_;
    QSet<int> hidden_;
    FloorBand floor_;
    LaneMarks* marks_;
    QCPRange x_{0, 1}, y_{0, 1};
};

}  // namespace kvasir::ui
