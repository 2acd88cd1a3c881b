// SPDX-License-Identifier: GPL-3.0-or-later
// Two histograms on the same bins, before and after, with the quantization levels drawn on the second one. They stand
// above each other, or side by side where there is no height for that.
#pragma once

#include "core/session/distribution.h"
#include "ui/plots/chart.h"

namespace kvasir::ui {

/// Caption above one histogram, and level lines with their codes.
class HistogramNotes : public QCPLayerable {
    Q_OBJECT
 public:
    HistogramNotes(QCustomPlot* plot, QCPAxisRect* axes) : QCPLayerable(plot, QStringLiteral("main")), axes_(axes) {}
    QString title, figures;
    QColor title_colour;
    std::vector<double> levels;  ///< value of every code
    const Theme* theme = &Theme::instance();
    /// All of the caption where `at` is on it, else "".
    QString tipAt(QPointF at) const;

 protected:
    QRect clipRect() const override { return mParentPlot->viewport(); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }
    void draw(QCPPainter* painter) override;

 private:
    QCPAxisRect* axes_;
};

class HistogramChart : public Chart {
    Q_OBJECT
 public:
    explicit HistogramChart(QWidget* parent = nullptr);

    /// `side` as words: "V". The lane gives the colour of what its scheme makes of the values.
    void show(const DistributionFrame& frame, int lane_index, bool reference);
    void setDecodedShown(bool shown);

    void applyTheme(const Theme& theme) override;
    void fit() override;
    QSize exportSize() const override { return {643, 440}; }

 protected:
    double minimumSpan() const override { return 1e-9; }
    void arrange(QSize size) override;
    QString tipAt(QPointF at) const override;

 private:
    void restyleHistograms();
    int heightAbove() const;   ///< that both need above each other
    int heightBeside() const;  ///< and side by side
    void place(bool beside);

    QCPAxisRect* lower_;
    QCPBars *before_, *after_;
    QCPGraph* decoded_;
    HistogramNotes *before_notes_, *after_notes_;
    int lane_index_ = 0;
    bool reference_ = false;
    bool beside_ = false;
    QCPRange x_{-1, 1};
    double most_ = 1;
};

}  // namespace kvasir::ui
