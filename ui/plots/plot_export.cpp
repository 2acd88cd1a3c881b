// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_export.h"

#include <QBuffer>
#include <QFile>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <cmath>

#include "core/base/output.h"
#include "ui/plots/chart.h"
#include "ui/plots/svg_page.h"

namespace kvasir::ui {

namespace {

constexpr int kUnitsPerInch = 96;
constexpr double kMillimetresPerInch = 25.4;
constexpr int kEdge = 8, kTitleHeight = 20, kLegendHeight = 18;

constexpr int kDotsPerMetre = int(kUnitsPerInch / kMillimetresPerInch * 1000 + 0.5);

/// Text is as wide as on the page, whatever the screen.
QImage pageDevice() {
    QImage device(1, 1, QImage::Format_RGB32);
    device.setDotsPerMeterX(kDotsPerMetre);
    device.setDotsPerMeterY(kDotsPerMetre);
    return device;
}

int legendHeight(const ExportPage& page, int width) {
    QImage device = pageDevice();
    return page.legend.isEmpty() ? 0 : kLegendHeight * readoutLines(page.legend, width, *page.theme, &device);
}

int captionHeight(const ExportPage& page, int width) {
    QImage device = pageDevice();
    const QFontMetrics metrics(page.theme->font(7), &device);
    return metrics.boundingRect(QRect(0, 0, width, 10000), Qt::TextWordWrap, page.caption).height() + 4;
}

void paintPage(QCPPainter& painter, const ExportPage& page) {
    const QSize chart = page.chart->exportSize(), whole = exportPageSize(page);
    const int width = whole.width() - 2 * kEdge;
    const Theme& theme = *page.theme;
    painter.fillRect(QRect(QPoint(0, 0), whole), theme.colour(QStringLiteral("base")));
    painter.setPen(theme.colour(QStringLiteral("text")));
    painter.setFont(theme.font(9.5, true));
    painter.drawText(QRect(kEdge, kEdge / 2, width, kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter, page.title);
    int y = kEdge / 2 + kTitleHeight;
    const int legend = legendHeight(page, width);
    if (legend > 0) drawReadout(painter, QRectF(kEdge, y, width, legend), page.legend, theme);
    y += legend;
    painter.save();
    painter.translate(0, y);
    page.chart->paintForExport(painter, chart, theme);
    painter.restore();
    y += chart.height();
    painter.setPen(theme.colour(QStringLiteral("dim")));
    painter.setFont(theme.font(7));
    painter.drawText(QRect(kEdge, y, width, whole.height() - y), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                     page.caption);
}

}  // namespace

const Theme& paperTheme() {
    static const Theme theme;  // a new theme is light, at scale 1
    return theme;
}

QSize exportPageSize(const ExportPage& page) {
    const QSize chart = page.chart->exportSize();
    const int width = chart.width() - 2 * kEdge;
    return {chart.width(), kEdge / 2 + kTitleHeight + legendHeight(page, width) + chart.height() +
                               captionHeight(page, width) + kEdge / 2};
}

QByteArray pngBytes(const ExportPage& page, int scale) {
    QImage image(exportPageSize(page) * scale, QImage::Format_RGB32);
    if (image.isNull()) return {};
    image.setDevicePixelRatio(scale);
    image.setDotsPerMeterX(kDotsPerMetre);
    image.setDotsPerMeterY(kDotsPerMetre);
    {
        QCPPainter painter(&image);
        painter.setMode(QCPPainter::pmNoCaching);
        paintPage(painter, page);
    }
    image.setDotsPerMeterX(kDotsPerMetre * scale);  // after painting: points are turned into pixels at 96 dpi
    image.setDotsPerMeterY(kDotsPerMetre * scale);
    image.setText(QStringLiteral("Title"), page.title);
    image.setText(QStringLiteral("Description"), page.caption);
    image.setText(QStringLiteral("Software"), QStringLiteral("Kvasir"));
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    return image.save(&buffer, "PNG") ? buffer.data() : QByteArray();
}

QByteArray svgBytes(const ExportPage& page) {
    SvgPage svg(exportPageSize(page), page.title, page.caption);
    QCPPainter painter;
    if (!painter.begin(&svg)) return {};
    painter.setModes(QCPPainter::pmVectorized | QCPPainter::pmNoCaching);
    paintPage(painter, page);
    painter.end();
    return svg.bytes();
}

QByteArray pdfBytes(const ExportPage& page) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setResolution(kUnitsPerInch);
        writer.setPageSize(QPageSize(QSizeF(exportPageSize(page)) * kMillimetresPerInch / kUnitsPerInch,
                                     QPageSize::Millimeter, QString(), QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        writer.setTitle(page.title);
        writer.setCreator(QStringLiteral("Kvasir"));
        QCPPainter painter;
        if (!painter.begin(&writer)) return {};
        painter.setModes(QCPPainter::pmVectorized | QCPPainter::pmNoCaching);
        paintPage(painter, page);
        painter.end();
    }
    return buffer.data();
}

Status writePicture(const QString& path, const QByteArray& bytes) {
    if (bytes.isEmpty())
        return Error{ErrorCode::memory, "cannot draw", path.toStdString(), "there is not enough memory for the picture",
                     "Choose a smaller scale."};
    return write_output(QFile::encodeName(path).toStdString(),
                        std::string_view(bytes.constData(), size_t(bytes.size())));
}

bool writeExport(const QString& path, const QByteArray& bytes, QString* error) {
    const Status written = writePicture(path, bytes);
    if (written) return true;
    QString sentence = QString::fromStdString(written.error().message());
    if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
    if (error) *error = sentence;
    return false;
}

}  // namespace kvasir::ui
