// SPDX-License-Identifier: GPL-3.0-or-later
// The one place where values under the crosshair stand: above the plot, in as many lines as the lanes' values need.
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
/// Lines that the readout takes at a width: every value is whole; dim remarks stand behind the last one, cut where the
/// room ends.
int readoutLines(const Readout& readout, double width, const Theme& theme, QPaintDevice* device = nullptr);
/// Height of one line.
int readoutLineHeight(const Theme& theme);
/// Paints the lines into `rect`, left aligned, from its top.
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
    int nLines() const { return n_lines_; }

 protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

 private:
    void countLines(bool may_shrink);

    Readout readout_;
    int n_lines_ = 1;  ///< never fewer while the same parts stand in it, so that the plot below does not jump
};

}  // namespace kvasir::ui
