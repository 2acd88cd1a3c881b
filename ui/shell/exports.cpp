// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/exports.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <memory>

#include "core/base/output.h"
#include "ui/plots/run_csv.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/transcript.h"

namespace kvasir::ui {

namespace {

QString writeBytes(const QString& path, const QByteArray& bytes) {
    const Status written =
        write_output(QFile::encodeName(path).toStdString(), {bytes.constData(), size_t(bytes.size())});
    return written ? QString() : QString::fromStdString(written.error().message());
}

QString writePlot(PlotView& plot, const QString& format, int scale, const QString& path) {
    if (format == QLatin1String("csv")) return writeBytes(path, plot.csv());
    QString error;
    const bool written = format == QLatin1String("svg")   ? plot.saveSvg(path, &error)
                         : format == QLatin1String("pdf") ? plot.savePdf(path, &error)
                                                          : plot.savePng(path, scale, &error);
    return written ? QString() : error;
}

/// Words as a part of a file's name: letters, digits and hyphens.
QString inName(const QString& words) {
    QString name;
    for (const QChar c : words.toLower()) {
        if (c.unicode() < 128 && c.isLetterOrNumber())
            name += c;
        else if (!name.isEmpty() && !name.endsWith(QLatin1Char('-')))
            name += QLatin1Char('-');
    }
    while (name.endsWith(QLatin1Char('-')))
        name.chop(1);
    return name;
}

/// Every view of one plot, drawn by a copy that nobody sees: what is on the screen stays as it is.
void addViews(std::vector<ExportJob>& jobs, PlotDock& dock, RunController& controller, ViewState& view,
              const QDir& dir) {
    const std::shared_ptr<PlotView> plot(dock.entry().make(controller, view, nullptr));
    plot->showView(0);
    for (int i = 0; i < plot->nViews(); ++i) {
        QString name = dock.entry().id;
        if (const QString words = inName(plot->viewName(i)); !words.isEmpty())
            name += QLatin1Char('-') + words;
        else if (i > 0)
            name += QStringLiteral("-%1").arg(i + 1);
        for (const char* format : {"png", "svg", "pdf", "csv"}) {
            const bool table = QLatin1String(format) == QLatin1String("csv");
            if (table && i > 0 && !plot->csvIsOfView()) continue;
            const QString path = dir.filePath((table && !plot->csvIsOfView() ? dock.entry().id : name) +
                                              QLatin1Char('.') + QLatin1String(format));
            jobs.push_back({path, [plot, format, path] { return writePlot(*plot, QLatin1String(format), 2, path); },
                            [plot, i] { return plot->showView(i); }});
        }
    }
    if (dock.plot()->following()) return;
    // and the part that somebody has zoomed to
    for (const char* format : {"png", "svg", "pdf"}) {
        const QString path = dir.filePath(QStringLiteral("%1-as-seen.%2").arg(dock.entry().id, QLatin1String(format)));
        PlotView* seen = dock.plot();
        jobs.push_back({path, [seen, format, path] { return writePlot(*seen, QLatin1String(format), 2, path); }, {}});
    }
}

}  // namespace

ExportJob exportJob(const ExportChoice& choice, const std::shared_ptr<const RunModel>& run, const QString& path) {
    const QString format = choice.format;
    if (choice.dock)
        return {path,
                [plot = choice.dock->plot(), format, scale = choice.scale, path] {
                    return writePlot(*plot, format, scale, path);
                },
                {}};
    return {path,
            [run, format, path] {
                return writeBytes(path,
                                  format == QLatin1String("csv") ? tokensCsv(*run) : transcriptText(*run).toUtf8());
            },
            {}};
}

std::vector<ExportJob> allExports(const std::vector<PlotDock*>& docks, RunController& controller, ViewState& view,
                                  const Session& session, const QString& folder) {
    std::vector<ExportJob> jobs;
    const QDir dir(folder);
    const std::shared_ptr<const RunModel> run = controller.sharedRun();
    const auto add = [&](const char* name, std::function<QByteArray()> bytes) {
        const QString path = dir.filePath(QLatin1String(name));
        jobs.push_back({path, [path, bytes = std::move(bytes)] { return writeBytes(path, bytes()); }, {}});
    };
    const QString session_path = dir.filePath(QStringLiteral("session.kvasir"));
    jobs.push_back({session_path,
                    [kept = std::make_shared<Session>(session), session_path] {
                        const Status saved = save_session(*kept, QFile::encodeName(session_path).toStdString());
                        return saved ? QString() : QString::fromStdString(saved.error().message());
                    },
                    {}});
    add("transcript.txt", [run] { return transcriptText(*run).toUtf8(); });
    add("transcript.csv", [run] { return tokensCsv(*run); });
    add("lanes.csv", [run] { return lanesCsv(*run); });
    for (PlotDock* dock : docks)
        if (!run->empty()) addViews(jobs, *dock, controller, view, dir);
    return jobs;
}

QString refusal(const std::vector<ExportJob>& jobs, const std::vector<std::pair<QString, QString>>& inputs) {
    OutputPlan plan;
    for (const auto& [path, what] : inputs)
        plan.reads(QFile::encodeName(path).toStdString(), what.toStdString());
    for (const ExportJob& job : jobs)
        if (const Status allowed = plan.writes(QFile::encodeName(job.path).toStdString(), "the export"); !allowed)
            return QString::fromStdString(allowed.error().message());
    return {};
}

}  // namespace kvasir::ui
