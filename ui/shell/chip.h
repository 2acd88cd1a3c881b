// SPDX-License-Identifier: GPL-3.0-or-later
// The square with a lane's letter, and the small words in a frame beside names.
#pragma once

#include <QPainter>
#include <QPixmap>
#include <QString>
#include <QWidget>

#include "ui/shell/theme.h"

namespace kvasir::ui {

void paintChip(QPainter& painter, const QRectF& square, const LaneLook& look);
QPixmap chipPixmap(const LaneLook& look, int size, double device_pixel_ratio);
/// Letter colour on a filled chip: near-black or white, whichever contrasts more.
QColor letterColour(const QColor& fill);

enum class BadgeKind { plain, filled, warn, bad };

/// Width of a badge with the painter's font; height 18 at scale 1.
int badgeWidth(const QFontMetrics& metrics, const QString& word);
void paintBadge(QPainter& painter, const QRect& rect, const QString& word, BadgeKind kind);

/// A lane's chip as a widget.
class ChipWidget : public QWidget {
    Q_OBJECT
 public:
    explicit ChipWidget(QWidget* parent = nullptr);
    void setLook(const LaneLook& look);
    QSize sizeHint() const override;

 protected:
    void paintEvent(QPaintEvent*) override;

 private:
    LaneLook look_;
};

}  // namespace kvasir::ui
