// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says before a run, and which actions can be used.
#include <QPushButton>

#include "core/session/fair_comparison.h"
#include "core/session/lane_identity.h"
#include "ui/plots/controller_feed.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/start_banner.h"

namespace kvasir::ui {

void MainWindow::updateActions() {
    const EngineState state = controller_.status().state;
    const bool model = controller_.model() != nullptr, measured = !controller_.run().empty();
    actions_["run"]->setEnabled(model);
    actions_["step"]->setEnabled(model);
    actions_["pause"]->setEnabled(controller_.underWay());
    actions_["pause"]->setIcon(icon(state == EngineState::paused ? QStringLiteral("run") : QStringLiteral("pause")));
    actions_["stop"]->setEnabled(controller_.underWay() || state == EngineState::loading);
    actions_["copy-transcript"]->setEnabled(measured);
    const Mode mode = controller_.experiment().mode;
    actions_["teacher-forced"]->setChecked(mode == Mode::teacher_forced);
    actions_["free-running"]->setChecked(mode == Mode::free_running);
    actions_["free-running"]->setEnabled(!controller_.experiment().score_text);
    actions_["noise-floor"]->setChecked(controller_.experiment().noise_floor);
    actions_["add-lane"]->setEnabled(edits_.hasRoom());
    actions_["add-lane"]->setToolTip(
        edits_.hasRoom()
            ? add_lane_tip_
            : tr("A window compares at most %1 lanes, so that each keeps a look of its own: remove one first.")
                  .arg(kMostLanes));
    actions_["make-equal"]->setEnabled(!equal_terms(compared_lanes(controller_.experiment())));
    banner_->runButton()->setEnabled(model);
    actions_["last-session"]->setEnabled(files_.hasLastSession());
    banner_->lastSessionButton()->setVisible(files_.hasLastSession());
}

void MainWindow::updateBanner() {
    const Experiment& e = controller_.experiment();
    const bool wanted = controller_.run().empty() && !controller_.underWay() && !present_;
    banner_->setVisible(wanted);
    toolbar_->setRunFilled(!wanted);
    if (!wanted) return;
    int n = 0;
    for (size_t i = 0; i < e.lanes.size(); ++i)
        n += e.lanes[i].enabled || int(i) == e.reference;
    const bool model = controller_.model() != nullptr;
    QString title = tr("A model is missing");
    if (model)
        title =
            n == 1 ? tr("Ready: one cache, one text, one model") : tr("Ready: %1 caches, one text, one model").arg(n);
    else if (controller_.status().state == EngineState::loading)
        title = tr("The model is being loaded");
    const std::optional<Error>& problem = ControllerFeed::of(controller_).planProblem();
    banner_->runButton()->setEnabled(model && !problem);
    banner_->runButton()->setText(n == 1 ? tr("Run 1 lane") : tr("Run %1 lanes").arg(n));
    if (model && problem)
        return banner_->setWords(tr("This text cannot be run"),
                                 QString::fromStdString(problem->why + ". " + problem->hint));
    const QString what = e.score_text ? tr("scored") : tr("written");
    banner_->setWords(
        title, e.n_tokens > 0
                   ? tr("%1 tokens %2 through %3 and %4 compressed. No GPU needed.")
                         .arg(countText(e.n_tokens), what,
                              QString::fromStdString(e.lanes.empty() ? "" : e.lanes[size_t(e.reference)].spec.text))
                         .arg(n - 1)
                   : tr("The whole text %1 through %2 caches. No GPU needed.").arg(what).arg(n));
}

}  // namespace kvasir::ui
