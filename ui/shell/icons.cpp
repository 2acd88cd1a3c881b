// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

QByteArray svgOf(const QString& name) {
    static QHash<QString, QByteArray> read;
    auto it = read.find(name);
    if (it == read.end()) {
        QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
        if (!file.open(QIODevice::ReadOnly)) qFatal("kvasir: no icon %s", qPrintable(name));
        it = read.insert(name, file.readAll());
    }
    return it.value();
}

/// Renders at paint time, so a change of theme needs no new icons.
class ThemedIcon : public QIconEngine {
 public:
    ThemedIcon(QString name, QString role) : name_(std::move(name)), role_(std::move(role)) {}
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        const int side = std::min(rect.width(), rect.height());
        const QRect square(rect.x() + (rect.width() - side) / 2, rect.y() + (rect.height() - side) / 2, side, side);
        painter->drawPixmap(square, iconPixmap(name_, side, colourFor(mode), painter->device()->devicePixelRatioF()));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
        return iconPixmap(name_, std::min(size.width(), size.height()), colourFor(mode));
    }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal scale) override {
        QPixmap p = iconPixmap(name_, std::min(size.width(), size.height()), colourFor(mode));
        p.setDevicePixelRatio(scale);
        return p;
    }
    QIconEngine* clone() const override { return new ThemedIcon(name_, role_); }

 private:
    QColor colourFor(QIcon::Mode mode) const {
        return Theme::instance().colour(mode == QIcon::Disabled ? QStringLiteral("disabled") : role_);
    }
    QString name_, role_;
};

}  // namespace

QPixmap iconPixmap(const QString& name, int size, const QColor& colour, double device_pixel_ratio) {
    const int pixels = std::max(1, qRound(size * device_pixel_ratio));
    const QString key = QStringLiteral("kvasir-%1-%2-%3").arg(name, colour.name()).arg(pixels);
    QPixmap pixmap;
    if (!QPixmapCache::find(key, &pixmap)) {
        QByteArray svg = svgOf(name);
        svg.replace("#000", colour.name().toLatin1());
        pixmap = QPixmap(pixels, pixels);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        QSvgRenderer(svg).render(&painter);
        painter.end();
        QPixmapCache::insert(key, pixmap);
    }
    pixmap.setDevicePixelRatio(device_pixel_ratio);
    return pixmap;
}

QIcon icon(const QString& name, const QString& role) {
    return QIcon(new ThemedIcon(name, role));
}

}  // namespace kvasir::ui
