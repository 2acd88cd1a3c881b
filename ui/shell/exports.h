// SPDX-License-Identifier: GPL-3.0-or-later
// Files that come out of the window. Everything is written beside its place and renamed.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "core/session/run_model.h"
#include "ui/shell/plot_dock.h"

namespace kvasir::ui {

struct ExportJob {
    PlotDock* dock = nullptr;  ///< nullptr: the transcript
    QString format;            ///< png, svg, pdf, csv; or txt, csv of the transcript
    int scale = 2;             ///< PNG only
    QString path;
};

/// One sentence on failure, "" when the file is there.
QString runExport(const ExportJob& job, const RunModel& run);

/// The jobs of *Export all* into `folder`: every plot that shows something in every format, and the transcript.
std::vector<ExportJob> allExports(const std::vector<PlotDock*>& docks, const QString& folder);

}  // namespace kvasir::ui
