// SPDX-License-Identifier: GPL-3.0-or-later
// What holds between two steps, whatever they were.
#include <QApplication>
#include <algorithm>
#include <set>

#include "core/session/session_file.h"
#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/walk/walk.h"

namespace kvasir::test {

namespace {

using ui::MainWindow;

QString unsoundExperiment(const Experiment& e) {
    if (e.lanes.empty()) return QStringLiteral("the experiment has no lanes");
    if (e.reference < 0 || e.reference >= int(e.lanes.size())) return QStringLiteral("the reference is no lane");
    const auto again = experiment_from_json(experiment_to_json(e));
    if (!again)
        return QStringLiteral("a session saved now could not be opened: ") +
               QString::fromStdString(again.error().message());
    if (!(*again == e)) return QStringLiteral("a session saved now would open as another experiment");
    return {};
}

QString unsoundRun(const RunModel& run) {
    if (run.empty()) return {};
    if (run.n_lanes() != int(run.info().lanes.size()) || run.n_lanes() != int(run.info().experiment.lanes.size()))
        return QStringLiteral("the run has records of other lanes than its own");
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        const auto& records = run.lane(lane);
        for (size_t i = 1; i < records.size(); ++i)
            if (records[i].step <= records[i - 1].step)
                return QStringLiteral("steps of lane %1 are out of order").arg(lane);
    }
    return {};
}

QString unsoundActions(MainWindow& window) {
    ui::Actions& actions = window.actions();
    const auto& controller = window.controller();
    const EngineState state = controller.status().state;
    const auto wrong = [&](const char* id) {
        return QStringLiteral("%1 is enabled or checked when it must not be, or the other way").arg(QLatin1String(id));
    };
    const bool busy = controller.underWay() || state == EngineState::loading;
    if (actions["run"]->isEnabled() && !controller.model()) return wrong("run");
    if (actions["stop"]->isEnabled() != busy) return wrong("stop");
    if (actions["pause"]->isEnabled() && !controller.underWay()) return wrong("pause");
    if (actions["copy-transcript"]->isEnabled() == controller.run().empty()) return wrong("copy-transcript");
    if (actions["undo"]->isEnabled() != window.edits().stack().canUndo()) return wrong("undo");
    if (actions["redo"]->isEnabled() != window.edits().stack().canRedo()) return wrong("redo");
    if (actions["teacher-forced"]->isChecked() != (controller.experiment().mode == Mode::teacher_forced))
        return wrong("teacher-forced");
    if (actions["free-running"]->isChecked() == actions["teacher-forced"]->isChecked()) return wrong("free-running");
    if (actions["noise-floor"]->isChecked() != controller.experiment().noise_floor) return wrong("noise-floor");
    if (actions["layout-explore"]->isChecked() == actions["layout-present"]->isChecked())
        return wrong("layout-explore");
    int themes = 0;
    for (const char* id : {"theme-auto", "theme-light", "theme-dark", "theme-contrast"})
        themes += actions[id]->isChecked();
    if (themes != 1) return QStringLiteral("%1 themes are chosen").arg(themes);
    return {};
}

QString unsoundPanes(MainWindow& window) {
    const auto& run = window.controller().run();
    const Experiment& shown = run.empty() ? window.controller().experiment() : run.info().experiment;
    std::set<int> seen;
    for (ui::LanePane* pane : window.lanes().panes()) {
        if (pane->lane() < 0 || pane->lane() >= int(shown.lanes.size()))
            return QStringLiteral("a pane shows lane %1 of %2").arg(pane->lane()).arg(shown.lanes.size());
        if (!seen.insert(pane->lane()).second) return QStringLiteral("two panes show lane %1").arg(pane->lane());
    }
    size_t longest = 0;
    for (int lane = 0; lane < run.n_lanes(); ++lane)
        longest = std::max(longest, run.lane(lane).size());
    if (window.view().crosshairStep() >= std::max(1, int(longest)))
        return QStringLiteral("the cursor is on token %1 of %2").arg(window.view().crosshairStep()).arg(longest);
    return {};
}

}  // namespace

QString unsound(MainWindow& window) {
    if (QWidget* dialog = QApplication::activeModalWidget())
        return QStringLiteral("a modal dialog is left: ") + QLatin1String(dialog->metaObject()->className());
    const auto& controller = window.controller();
    for (const QString& problem : {unsoundExperiment(controller.experiment()), unsoundRun(controller.run()),
                                   unsoundActions(window), unsoundPanes(window)})
        if (!problem.isEmpty()) return problem;
    return {};
}

}  // namespace kvasir::test
