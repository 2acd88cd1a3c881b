// SPDX-License-Identifier: GPL-3.0-or-later
// Every text that a window prints, with the place where it stands and what is cut off: the window is painted once onto
// a device that keeps texts instead of pixels. It sees what widgets, styles, rich text and charts print alike.
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QtWidgets>
#include <vector>

#include "ui/plots/chart.h"

namespace kvasir::ui::look {

struct PrintedText {
    QString text;
    QRectF ink;                ///< in coordinates of the window, tight around the letters
    QRectF clip;               ///< what can be seen there
    QWidget* owner = nullptr;  ///< who printed it
};

class TextEngine : public QPaintEngine {
 public:
    explicit TextEngine(std::vector<PrintedText>& out) : QPaintEngine(AllFeatures), out_(out) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState&) override {}
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawRects(const QRectF*, int) override {}
    void drawLines(const QLineF*, int) override {}
    void drawEllipse(const QRectF&) override {}
    void drawPoints(const QPointF*, int) override {}
    Type type() const override { return User; }
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
        const QString text = item.text();
        if (text.trimmed().isEmpty()) return;
        QPainter* painter = state->painter();
        const QTransform to_device = painter->deviceTransform();
        const QRectF tight = QFontMetricsF(item.font()).tightBoundingRect(text).translated(at);
        PrintedText printed{text, to_device.mapRect(tight).translated(offset), QRectF(), owner};
        printed.clip = systemClip().isEmpty() ? page : QRectF(systemClip().boundingRect());
        if (painter->hasClipping()) printed.clip &= to_device.mapRect(painter->clipBoundingRect());
        printed.clip = (printed.clip & limit).translated(offset);
        out_.push_back(printed);
    }
    QRectF page, limit;  ///< of the device, and of what is in sight of it
    QPointF offset;
    QWidget* owner = nullptr;

 private:
    std::vector<PrintedText>& out_;
};

class TextDevice : public QObject, public QPaintDevice {
 public:
    TextDevice(QSize size, std::vector<PrintedText>& out) : engine(out), size_(size) {
        engine.page = engine.limit = QRectF(QPointF(), size);
        qApp->installEventFilter(this);
    }
    QPaintEngine* paintEngine() const override { return &engine; }
    mutable TextEngine engine;

 protected:
    int metric(PaintDeviceMetric m) const override {
        switch (m) {
            case PdmWidth:
                return size_.width();
            case PdmHeight:
                return size_.height();
            case PdmDpiX:
            case PdmPhysicalDpiX:
                return qApp->primaryScreen() ? qRound(qApp->primaryScreen()->logicalDotsPerInchX()) : 96;
            case PdmDpiY:
            case PdmPhysicalDpiY:
                return qApp->primaryScreen() ? qRound(qApp->primaryScreen()->logicalDotsPerInchY()) : 96;
            case PdmDepth:
                return 32;
            case PdmDevicePixelRatio:
                return 1;
            default:
                return QPaintDevice::metric(m);
        }
    }
    /// Whoever is painted now prints what comes.
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint && watched->isWidgetType()) engine.owner = static_cast<QWidget*>(watched);
        return false;
    }

 private:
    QSize size_;
};

/// All texts of `window` and of the charts in it, which paint themselves into buffers of their own.
inline std::vector<PrintedText> printedTexts(QWidget& window) {
    std::vector<PrintedText> out;
    {
        TextDevice device(window.size(), out);
        window.render(&device, QPoint(), QRegion(), QWidget::DrawChildren);
    }
    for (Chart* chart : window.findChildren<Chart*>()) {
        if (!chart->isVisible() || chart->visibleRegion().isEmpty()) continue;
        TextDevice device(chart->size(), out);
        device.engine.owner = chart;
        device.engine.limit = chart->visibleRegion().boundingRect();  // it may stand in a page that scrolls
        device.engine.offset = chart->mapTo(&window, QPoint());
        QCPPainter painter(&device);
        painter.setMode(QCPPainter::pmVectorized);
        chart->toPainter(&painter, chart->width(), chart->height());
    }
    return out;
}

}  // namespace kvasir::ui::look
