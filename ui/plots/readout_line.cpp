// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/readout_line.h"

#include <QPainter>

#include "ui/plots/plot_style.h"

namespace kvasir::ui {

QString readoutText(const Readout& readout) {
    QStringList parts;
    for (const ReadoutPart& part : readout)
        parts << (part.has_look ? part.look.letter + QLatin1Char(' ') + part.text : part.text);
    return parts.join(QStringLiteral(", "));
}

void fillPart(QPainter& painter, const QRectF& rect, const QColor& colour, const PartStyle& style) {
    painter.save();
    if (style.pattern == Qt::SolidPattern) {
        QColor fill = colour;
        fill.setAlphaF(float(style.alpha));
        painter.fillRect(rect, fill);
    } else {
        painter.setPen(QPen(colour, 1));
        painter.setBrush(QBrush(colour, style.pattern));
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    painter.restore();
}

void drawReadout(QPainter& painter, const QRectF& rect, const Readout& readout, const Theme& theme) {
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    const QFont font = theme.font(9);
    const QFontMetricsF metrics(font, painter.device());
    painter.setFont(font);
    const double size = theme.px(9), gap = theme.px(5), swatch = theme.px(16);
    const double baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    double x = rect.left();
    for (const ReadoutPart& part : readout) {
        if (x >= rect.right()) break;
        if (part.has_look) {
            drawMarker(painter, {x + size / 2 + 1, rect.center().y()}, size, part.look,
                       theme.colour(QStringLiteral("base")), true);
            x += size + gap;
        } else if (part.has_swatch) {
            fillPart(painter, {x, rect.center().y() - size / 2, swatch, size}, theme.colour(QStringLiteral("text")),
                     part.swatch);
            x += swatch + gap;
        }
        painter.setPen(theme.colour(part.dim ? QStringLiteral("dim") : QStringLiteral("text")));
        const QString text = metrics.elidedText(part.text, Qt::ElideRight, std::max(0.0, rect.right() - x));
        painter.drawText(QPointF(x, baseline), text);
        x += metrics.horizontalAdvance(text) + gap * 1.6;
    }
    painter.restore();
}

ReadoutLine::ReadoutLine(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ReadoutLine::setReadout(const Readout& readout) {
    readout_ = readout;
    const QString text = readoutText(readout);
    setAccessibleName(text);
    setToolTip(text);
    update();
}

QSize ReadoutLine::sizeHint() const {
    const Theme& theme = Theme::instance();
    return {theme.px(200), QFontMetrics(theme.font(9)).height() + theme.px(6)};
}

QSize ReadoutLine::minimumSizeHint() const {
    return {40, sizeHint().height()};
}

void ReadoutLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    drawReadout(painter, rect(), readout_, Theme::instance());
}

}  // namespace kvasir::ui
