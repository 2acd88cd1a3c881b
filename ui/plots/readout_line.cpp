// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/readout_line.h"

#include <QPainter>
#include <QResizeEvent>
#include <algorithm>

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

namespace {

struct Placed {
    const ReadoutPart* part;
    double x;
    int line;
    QString text;
};

/// Where every part stands. Values are never cut: one that does not fit begins the next line.
QVector<Placed> place(const Readout& readout, double width, const QFontMetricsF& metrics, const Theme& theme) {
    const double gap = theme.px(5);
    QVector<Placed> placed;
    double x = 0;
    int line = 0;
    for (const ReadoutPart& part : readout) {
        const double mark = part.has_look ? theme.px(9) + gap : part.has_swatch ? theme.px(16) + gap : 0;
        const double advance = metrics.horizontalAdvance(part.text);
        const bool remark = part.dim && !part.has_look && !part.has_swatch;
        if (!remark && x > 0 && x + mark + advance > width) x = 0, ++line;
        const double room = std::max(0.0, width - x - mark);
        const QString text = advance > room ? metrics.elidedText(part.text, Qt::ElideRight, room) : part.text;
        placed << Placed{&part, x, line, text};
        x += mark + std::min(advance, room) + gap * 1.6;
    }
    return placed;
}

}  // namespace

int readoutLineHeight(const Theme& theme) {
    return QFontMetrics(theme.font(9)).height() + theme.px(6);
}

int readoutLines(const Readout& readout, double width, const Theme& theme, QPaintDevice* device) {
    const QFont font = theme.font(9);
    const QVector<Placed> placed =
        place(readout, width, device ? QFontMetricsF(font, device) : QFontMetricsF(font), theme);
    return placed.isEmpty() ? 1 : placed.constLast().line + 1;
}

void drawReadout(QPainter& painter, const QRectF& rect, const Readout& readout, const Theme& theme) {
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    const QFont font = theme.font(9);
    const QFontMetricsF metrics(font, painter.device());
    painter.setFont(font);
    const double size = theme.px(9), gap = theme.px(5), swatch = theme.px(16);
    const QVector<Placed> placed = place(readout, rect.width(), metrics, theme);
    const double height = rect.height() / (placed.isEmpty() ? 1 : placed.constLast().line + 1);
    for (const auto& [part, at, line, text] : placed) {
        const double middle = rect.top() + (line + 0.5) * height;
        double x = rect.left() + at;
        if (part->has_look) {
            drawMarker(painter, {x + size / 2 + 1, middle}, size, part->look, theme.colour(QStringLiteral("base")),
                       true);
            x += size + gap;
        } else if (part->has_swatch) {
            fillPart(painter, {x, middle - size / 2, swatch, size}, theme.colour(QStringLiteral("text")), part->swatch);
            x += swatch + gap;
        }
        painter.setPen(theme.colour(part->dim ? QStringLiteral("dim") : QStringLiteral("text")));
        painter.drawText(QPointF(x, middle + (metrics.ascent() - metrics.descent()) / 2), text);
    }
    painter.restore();
}

ReadoutLine::ReadoutLine(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ReadoutLine::setReadout(const Readout& readout) {
    const bool other = readout.size() != readout_.size();
    readout_ = readout;
    const QString text = readoutText(readout);
    setAccessibleName(text);
    setToolTip(text);
    countLines(other);
    update();
}

void ReadoutLine::countLines(bool may_shrink) {
    const int wanted = readoutLines(readout_, width(), Theme::instance());
    const int n = may_shrink ? wanted : std::max(wanted, n_lines_);
    if (n == n_lines_) return;
    n_lines_ = n;
    updateGeometry();
}

QSize ReadoutLine::sizeHint() const {
    const Theme& theme = Theme::instance();
    return {theme.px(200), n_lines_ * readoutLineHeight(theme)};
}

QSize ReadoutLine::minimumSizeHint() const {
    return {40, sizeHint().height()};
}

void ReadoutLine::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) countLines(true);
}

void ReadoutLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRectF lines(0, 0, width(), readoutLines(readout_, width(), Theme::instance()) * double(height()) / n_lines_);
    drawReadout(painter, lines, readout_, Theme::instance());
}

}  // namespace kvasir::ui
