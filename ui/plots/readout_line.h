// SPDX-License-Identifier: GPL-3.0-or-later
// The one place where values under the crosshair stand: a line of fixed height above the plot.
#pragma once

#include <QVector>
#include <QWidget>

#include "ui/shell/theme.h"

namespace kvasir::ui {

/// How the kinds of a stacked bar are told apart: by the strength of the lane's colour, then by hatching.
struct PartStyle {
    double alpha = 1;
    Qt::BrushStyle pattern = Qt::SolidPattern;
};

/// A piece of the line: an optional marker or swatch, then text.
struct ReadoutPart {
    QString text;
    bool has_look = false;
    LaneLook look;
    bool has_swatch = false;
    PartStyle swatch;
    bool dim = false;

    static ReadoutPart plain(const QString& text, bool dim = false) { return {text, false, {}, false, {}, dim}; }
    static ReadoutPart lane(const LaneLook& look, const QString& text) { return {text, true, look, false, {}, false}; }
    static ReadoutPart kind(const PartStyle& style, const QString& text) {
        return {text, false, {}, true, style, false};
    }
};
using Readout = QVector<ReadoutPart>;

QString readoutText(const Readout& readout);  ///< letters stand for the markers; for screen readers
/// Paints the line into `rect`, left aligned; what does not fit is cut at the right.
void drawReadout(QPainter& painter, const QRectF& rect, const Readout& readout, const Theme& theme);
/// Fill of one part of a bar in `colour`.
void fillPart(QPainter& painter, const QRectF& rect, const QColor& colour, const PartStyle& style);

class ReadoutLine : public QWidget {
    Q_OBJECT
 public:
    explicit ReadoutLine(QWidget* parent = nullptr);
    void setReadout(const Readout& readout);
    const Readout& readout() const { return readout_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

 protected:
    void paintEvent(QPaintEvent* event) override;

 private:
    Readout readout_;
};

}  // namespace kvasir::ui
