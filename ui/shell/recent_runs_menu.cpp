// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/recent_runs_menu.h"

namespace kvasir::ui {

RecentRunsMenu::RecentRunsMenu(SessionFiles& files, std::function<bool()> may_replace, QWidget* parent)
    : QMenu(tr("Recent r&uns"), parent) {
    setObjectName(QStringLiteral("recent-runs"));
    connect(this, &QMenu::aboutToShow, this, [this, &files, may_replace = std::move(may_replace)] {
        clear();
        for (const JournalSummary& run : files.history().recent()) {
            const QString path = QString::fromStdString(run.path);
            addAction(describeRun(run), this, [&files, may_replace, path] {
                if (may_replace()) files.restoreRun(path);
            });
        }
        if (isEmpty()) addAction(tr("None yet"))->setEnabled(false);
    });
}

}  // namespace kvasir::ui
