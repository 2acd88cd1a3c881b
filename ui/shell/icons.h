// SPDX-License-Identifier: GPL-3.0-or-later
// The SVGs of resources/icons, drawn in the colour the theme has at the moment of painting.
#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>
#include <QString>

namespace kvasir::ui {

/// `role` is a colour role of the theme; disabled icons take "disabled".
QIcon icon(const QString& name, const QString& role = QStringLiteral("text"));
QPixmap iconPixmap(const QString& name, int size, const QColor& colour, double device_pixel_ratio = 1);

}  // namespace kvasir::ui
