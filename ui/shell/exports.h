// SPDX-License-Identifier: GPL-3.0-or-later
// Files that come out of the window. Everything is written beside its place and renamed, and never over what was read.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <vector>

#include "core/session/session_file.h"
#include "ui/shell/plot_dock.h"

namespace kvasir::ui {

class RunController;
class ViewState;

struct ExportJob {
    QString path;
    std::function<QString()> write;  ///< one sentence on failure, "" when the file is there
    std::function<bool()> ready;     ///< asked until it is true, before write(); none: at once
};

/// What a person chose in the dialog.
struct ExportChoice {
    PlotDock* dock = nullptr;  ///< nullptr: the transcript
    QString format;            ///< png, svg, pdf, csv; or txt, csv of the transcript
    int scale = 2;             ///< PNG only
};

ExportJob exportJob(const ExportChoice& choice, const std::shared_ptr<const RunModel>& run, const QString& path);

/// The jobs of *Export all* into `folder`: every view of every plot that shows something in every format, the tables of
/// lanes and tokens, the transcript and the session.
std::vector<ExportJob> allExports(const std::vector<PlotDock*>& docks, RunController& controller, ViewState& view,
                                  const Session& session, const QString& folder);

/// Why none of the jobs may begin: a file that is in use would be replaced, or there is no place; "" when all may.
/// `inputs`: path and what it is.
QString refusal(const std::vector<ExportJob>& jobs, const std::vector<std::pair<QString, QString>>& inputs);

}  // namespace kvasir::ui
