// SPDX-License-Identifier: GPL-3.0-or-later
// A chart as a file: title above, legend and provenance with it, 170 mm wide, light colours on white unless another
// theme is asked for.
#pragma once

#include <QByteArray>
#include <QString>

#include "core/base/result.h"
#include "ui/plots/readout_line.h"

namespace kvasir::ui {

class Chart;

const Theme& paperTheme();  ///< light, at scale 1

struct ExportPage {
    Chart* chart = nullptr;
    QString title;
    Readout legend;   ///< empty: none
    QString caption;  ///< provenance and what is unequal, complete
    const Theme* theme = &paperTheme();
};

/// The picture in one format, in memory; empty when it cannot be drawn (not enough memory).
QByteArray pngBytes(const ExportPage& page, int scale);
QByteArray svgBytes(const ExportPage& page);
QByteArray pdfBytes(const ExportPage& page);

/// Size of the whole page at 96 units an inch.
QSize exportPageSize(const ExportPage& page);

/// Writes beside `path` and renames, so that a full disk leaves the old file whole.
Status writePicture(const QString& path, const QByteArray& bytes);
/// The same; the error is one sentence.
bool writeExport(const QString& path, const QByteArray& bytes, QString* error);

}  // namespace kvasir::ui
