// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/chip.h"

#include <cmath>

namespace kvasir::ui {

namespace {

// WCAG 2.2 relative luminance.
double luminance(const QColor& c) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

}  // namespace

QColor letterColour(const QColor& fill) {
    const double l = luminance(fill);
    const QColor dark(0x14, 0x18, 0x1C);
    return 1.05 / (l + 0.05) > (l + 0.05) / (luminance(dark) + 0.05) ? QColor(Qt::white) : dark;
}

void paintChip(QPainter& painter, const QRectF& square, const LaneLook& look) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    if (look.hollow) {
        painter.setPen(QPen(look.colour, 1.5));
        painter.setBrush(Theme::instance().colour(QStringLiteral("base")));
        painter.drawRoundedRect(square.adjusted(0.75, 0.75, -0.75, -0.75), 3, 3);
        painter.setPen(look.colour);
    } else {
        painter.setPen(Qt::NoPen);
        painter.setBrush(look.colour);
        painter.drawRoundedRect(square, 3, 3);
        painter.setPen(letterColour(look.colour));
    }
    QFont font = Theme::instance().font(9, true);
    font.setPixelSize(std::max(8, int(square.height() * 0.62)));
    font.setWeight(QFont::Bold);
    painter.setFont(font);
    painter.drawText(square, Qt::AlignCenter, look.letter);
    painter.restore();
}

QPixmap chipPixmap(const LaneLook& look, int size, double device_pixel_ratio) {
    QPixmap pixmap(QSize(size, size) * device_pixel_ratio);
    pixmap.setDevicePixelRatio(device_pixel_ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintChip(painter, QRectF(0, 0, size, size), look);
    return pixmap;
}

int badgeWidth(const QFontMetrics& metrics, const QString& word) {
    return metrics.horizontalAdvance(word) + 11;
}

void paintBadge(QPainter& painter, const QRect& rect, const QString& word, BadgeKind kind) {
    const Theme& theme = Theme::instance();
    QColor frame = theme.colour(QStringLiteral("line")), text = theme.colour(QStringLiteral("dim"));
    QBrush fill = Qt::NoBrush;
    QFont font = painter.font();
    if (kind == BadgeKind::filled) {
        frame = theme.colour(QStringLiteral("edge"));
        fill = theme.colour(QStringLiteral("sel"));
        text = theme.colour(QStringLiteral("selText"));
        font.setWeight(QFont::DemiBold);
    } else if (kind != BadgeKind::plain) {
        frame = text = theme.colour(kind == BadgeKind::warn ? QStringLiteral("warn") : QStringLiteral("bad"));
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font);
    painter.setPen(frame);
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setPen(text);
    painter.drawText(rect, Qt::AlignCenter, word);
    painter.restore();
}

ChipWidget::ChipWidget(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void ChipWidget::setLook(const LaneLook& look) {
    look_ = look;
    setAccessibleName(look.letter);
    update();
}

QSize ChipWidget::sizeHint() const {
    return {Theme::instance().px(18), Theme::instance().px(18)};
}

void ChipWidget::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintChip(painter, rect(), look_);
}

}  // namespace kvasir::ui
