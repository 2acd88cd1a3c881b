// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/exports.h"

#include <QDir>

#include "core/base/output.h"
#include "core/report/csv.h"
#include "ui/shell/transcript.h"

namespace kvasir::ui {

namespace {

QString writeBytes(const QString& path, std::string_view bytes) {
    const Status written = write_output(path.toStdString(), bytes);
    return written ? QString() : QString::fromStdString(written.error().message());
}

}  // namespace

QString runExport(const ExportJob& job, const RunModel& run) {
    if (!job.dock) {
        if (job.format == QLatin1String("csv")) return writeBytes(job.path, per_token_csv(run));
        return writeBytes(job.path, transcriptText(run).toStdString());
    }
    PlotView* plot = job.dock->plot();
    if (job.format == QLatin1String("csv")) {
        const QByteArray csv = plot->csv();
        return writeBytes(job.path, {csv.constData(), size_t(csv.size())});
    }
    QString error;
    const bool written = job.format == QLatin1String("svg")   ? plot->saveSvg(job.path, &error)
                         : job.format == QLatin1String("pdf") ? plot->savePdf(job.path, &error)
                                                              : plot->savePng(job.path, job.scale, &error);
    return written ? QString() : error;
}

std::vector<ExportJob> allExports(const std::vector<PlotDock*>& docks, const QString& folder) {
    std::vector<ExportJob> jobs;
    const QDir dir(folder);
    for (PlotDock* dock : docks) {
        if (dock->plot()->isEmpty()) continue;
        for (const char* format : {"png", "svg", "pdf", "csv"})
            jobs.push_back({dock, QLatin1String(format), 2,
                            dir.filePath(QStringLiteral("%1.%2").arg(dock->entry().id, QLatin1String(format)))});
    }
    for (const char* format : {"txt", "csv"})
        jobs.push_back({nullptr, QLatin1String(format), 1,
                        dir.filePath(QStringLiteral("transcript.%1").arg(QLatin1String(format)))});
    return jobs;
}

}  // namespace kvasir::ui
