// SPDX-License-Identifier: GPL-3.0-or-later
// Layer x token map of one magnitude, with its colour bar above right.
#pragma once

#include "ui/plots/chart.h"

namespace kvasir::ui {

/// The colour bar: both ends in figures, `≤` and `≥` where values lie beyond.
class ColourBar : public QCPLayerable {
    Q_OBJECT
 public:
    explicit ColourBar(QCustomPlot* plot) : QCPLayerable(plot, QStringLiteral("main")) {}
    QString name, low, high, grey;  ///< grey: what the cells without a colour are; "" when there are none
    const Theme* theme = &Theme::instance();

 protected:
    QRect clipRect() const override { return mParentPlot->viewport(); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }
    void draw(QCPPainter* painter) override;
};

class HeatMapChart : public Chart {
    Q_OBJECT
 public:
    explicit HeatMapChart(QWidget* parent = nullptr);

    /// Empties the map: `n_tokens` columns are kept ready, of which the first stands at `first_position`.
    void begin(int first_position, int n_tokens, int n_rows, const QString& quantity);
    /// Values of the column at `position`, one per row; a NaN leaves the cell empty.
    void setColumn(int position, const std::vector<float>& values);
    /// Last token that fit() shows.
    void setLast(int position) { last_ = position; }
    double cell(int position, int row) const;  ///< NaN: nothing there
    /// Greys the cells of the column that are not above `levels`, one per row; `what` says what they are.
    void setFloor(int position, const std::vector<float>& levels, const QString& what);
    bool isGrey(int position, int row) const;

    void applyTheme(const Theme& theme) override;
    void fit() override;
    QSize exportSize() const override { return {643, 300}; }

 protected:
    QString tipAt(QPointF at) const override;

 private:
    void updateRange();
    bool holds(int position, int row) const;
    QCPColorMap *map_, *grey_;  // grey_ lies above: 1 where it covers the colour
    ColourBar* bar_;
    int first_ = 0, last_ = 0, n_tokens_ = 0, n_rows_ = 0;
    double least_, most_;  // of positive values
};

}  // namespace kvasir::ui
