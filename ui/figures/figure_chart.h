// SPDX-License-Identifier: GPL-3.0-or-later
// Measured points joined by lines, limits as thin lines with words on them, names at the right edge.
#pragma once

#include "ui/plots/chart.h"

namespace kvasir::ui {

struct FigurePoint {
    FigurePoint(double at_x, double at_y) : FigurePoint(at_x, at_y, at_y, at_y) {}
    FigurePoint(double at_x, double at_y, double from, double to) : x(at_x), y(at_y), low(from), high(to) {}

    double x, y;
    double low, high;  ///< a thin bar from here to there; none where they are equal
    double size = 7;   ///< of the marker, px
    QString words;     ///< beside the marker, where there is room
};

struct FigureLine {
    int index = 0, condition = 0;  ///< see lookOf()
    bool reference = false;
    QString name;  ///< "": no label; another line of the same look has it
    Qt::PenStyle style = Qt::SolidLine;
    QVector<FigurePoint> points;  ///< joined in this order
};

/// A line that was not measured as such: a roof. In the colour of a line, or in the text colour.
struct FigureLimit {
    QVector<QPointF> points;
    QString words;       ///< along the line, above it
    int line = kNoLine;  ///< whose colour

    static constexpr int kNoLine = -1;  ///< the text's colour
};

/// A shaded area from the axis up to `top`.
struct FigureBase {
    double top = 0;
    QString words;
};

class FigureMarks;

class FigureChart : public Chart {
    Q_OBJECT
 public:
    explicit FigureChart(QWidget* parent = nullptr);

    void setAxes(const QString& x, bool x_log, const QString& y, bool y_log);
    void setRanges(QCPRange x, QCPRange y) { x_ = x, y_ = y; }
    void setXTicks(const QVector<double>& ticks);  ///< these and no others
    void addLine(const FigureLine& line) { lines_ << line; }
    void addLimit(const FigureLimit& limit) { limits_ << limit; }
    void addBase(const FigureBase& base) { bases_ << base; }
    /// Makes what is drawn from what was added.
    void finish();

    const QVector<FigureLine>& lines() const { return lines_; }
    const QVector<FigureLimit>& limits() const { return limits_; }
    const QVector<FigureBase>& bases() const { return bases_; }
    LaneLook look(const FigureLine& line) const;

    void applyTheme(const Theme& theme) override;
    void fit() override;

 private:
    QVector<FigureLine> lines_;
    QVector<FigureLimit> limits_;
    QVector<FigureBase> bases_;
    QVector<QCPCurve*> line_curves_, limit_curves_;
    QVector<QCPGraph*> base_graphs_;
    FigureMarks* marks_;
    QCPRange x_{0, 1}, y_{0, 1};
};

}  // namespace kvasir::ui
