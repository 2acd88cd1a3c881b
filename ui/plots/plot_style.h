// SPDX-License-Identifier: GPL-3.0-or-later
// How axes, markers and ticks look in every plot.
#pragma once

#include <qcustomplot.h>

#include "ui/shell/theme.h"

namespace kvasir::ui {

/// Marker of a lane centred at `at`; `ground` fills hollow ones. The reference (no marker) gets a short line when
/// `line`.
void drawMarker(QPainter& painter, QPointF at, double size, const LaneLook& look, const QColor& ground,
                bool line = false);

/// Base and ticks dim, ticks outwards, horizontal grid only, no frame.
void styleAxis(QCPAxis& axis, const Theme& theme);

/// Linear ticks with true minus and thin spaces.
class PlainTicker : public QCPAxisTicker {
 protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

/// Ticks at whole numbers only (tokens, layers).
class WholeTicker : public PlainTicker {
 protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double step) override;
};

/// Logarithmic ticks: powers of ten, and 1-2-5 with plain figures where fewer than two decades are in sight.
class DecadeTicker : public QCPAxisTickerLog {
 protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
    int getSubTickCount(double step) override;

 private:
    bool narrow_ = false;
};

/// As many ticks as their labels leave room for, so that none covers another.
void fitTicks(QCPAxis& axis);

/// Makes an axis linear or logarithmic, with the ticker that goes with it.
void setAxisLog(QCPAxis& axis, bool log);

/// The nearest 1, 2 or 5 x 10^n that is not below (up) or not above `value` (> 0).
double oneTwoFive(double value, bool up);

/// The next 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 x 10^n that is not below `value` (> 0): axis ends that seldom move.
double niceAbove(double value);

}  // namespace kvasir::ui
