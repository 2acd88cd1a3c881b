// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/figures/bench_figures.h"

#include <QDir>
#include <QFile>

#include "ui/figures/figures.h"
#include "ui/plots/plot_export.h"

namespace kvasir::ui {

Result<DrawnFigures> drawBenchFigures(const QStringList& documents, const QString& folder, const Theme& theme) {
    constexpr int kPixelsPerUnit = 2;
    std::vector<BenchDocument> read;
    for (const QString& path : documents) {
        auto document = read_bench_document(QFile::encodeName(path).toStdString());
        if (!document) return document.error();
        read.push_back(std::move(*document));
    }
    if (read.empty())
        return Error{ErrorCode::usage, "cannot draw", "--figures", "no file is named",
                     "Name what kvasir-cli bench --json wrote."};
    if (!QDir().mkpath(folder))
        return Error{ErrorCode::disk, "cannot write", folder.toStdString(), "the folder cannot be made",
                     "Choose another folder."};

    const FigureData data(std::move(read));
    DrawnFigures drawn;
    for (auto* make :
         {rooflineFigure, speedByDepthFigure, latencyByLanesFigure, memoryByTokensFigure, timeSplitFigure}) {
        const Figure figure = make(data);
        if (!figure.chart) {
            drawn.left_out << figure.id + QStringLiteral(": needs ") + figure.needs;
            continue;
        }
        const ExportPage page{figure.chart.get(), figure.title, figure.legend, data.provenance(), &theme};
        for (const auto& [ending, bytes] : {std::pair(QStringLiteral(".svg"), svgBytes(page)),
                                            std::pair(QStringLiteral(".png"), pngBytes(page, kPixelsPerUnit))}) {
            const QString path = QDir(folder).filePath(figure.id + ending);
            if (const Status written = writePicture(path, bytes); !written) return written.error();
            drawn.files << path;
        }
    }
    return drawn;
}

}  // namespace kvasir::ui
