// SPDX-License-Identifier: GPL-3.0-or-later
// A curve that goes on in grey where it runs inside the noise floor.
#pragma once

#include "ui/plots/floor_band.h"

namespace kvasir::ui {

/// The band may grow after the curve: what lies inside is looked up when the curve is drawn.
class FlooredGraph : public QCPGraph {
    Q_OBJECT
 public:
    FlooredGraph(QCPAxis* key_axis, QCPAxis* value_axis, const FloorBand& floor)
        : QCPGraph(key_axis, value_axis), floor_(floor) {}
    void setPens(const QPen& above, const QPen& inside) {
        setPen(above);
        inside_ = inside;
    }
    bool insideFloor(double key, double value) const;

 protected:
    void drawLinePlot(QCPPainter* painter, const QVector<QPointF>& lines) const override;

 private:
    /// Pixels from the nearer edge of the band: positive inside.
    double depth(const QPointF& at) const;

    const FloorBand& floor_;
    QPen inside_;
};

}  // namespace kvasir::ui
