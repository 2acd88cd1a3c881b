// SPDX-License-Identifier: GPL-3.0-or-later
// One horizontal stacked bar per lane: in the lane's colour, its kinds by strength and hatching, the total at the end.
#pragma once

#include "ui/plots/chart.h"
#include "ui/plots/readout_line.h"

namespace kvasir::ui {

struct BarRow {
    int lane = 0;
    bool reference = false;
    int index = 0;  ///< lane_mark()
    QString name;
    std::vector<double> parts;  ///< none: the row is a heading over those below
    bool shown = true;
};

/// Draws the rows into the main axes.
class StackedBars : public QCPLayerable {
    Q_OBJECT
 public:
    explicit StackedBars(QCustomPlot* plot) : QCPLayerable(plot, QStringLiteral("main")) {}
    QVector<BarRow> rows;
    QVector<PartStyle> styles;
    int decimals = 2;
    const Theme* theme = &Theme::instance();

    int laneAt(QPointF at) const;      ///< of the row there, or -1
    QString nameAt(QPointF at) const;  ///< of the row there, or ""

 protected:
    QRect clipRect() const override { return mParentPlot->viewport(); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }
    void draw(QCPPainter* painter) override;

 private:
    int rowAt(QPointF at) const;
    double rowCentre(int row) const;
    double rowHeight() const;
};

class BarsChart : public Chart {
    Q_OBJECT
 public:
    explicit BarsChart(QWidget* parent = nullptr);

    void setParts(const QVector<PartStyle>& styles, int decimals);
    void setRows(const QVector<BarRow>& rows, const QString& axis_label);
    const QVector<BarRow>& rows() const { return bars_->rows; }

    void applyTheme(const Theme& theme) override;
    void fit() override;

 protected:
    int laneLabelAt(QPointF at) const override { return bars_->laneAt(at); }
    QString tipAt(QPointF at) const override {
        const QString name = bars_->nameAt(at);
        return name.isEmpty() ? Chart::tipAt(at) : name;
    }
    double minimumSpan() const override { return 1e-9; }

 private:
    StackedBars* bars_;
};

}  // namespace kvasir::ui
