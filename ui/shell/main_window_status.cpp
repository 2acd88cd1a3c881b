// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says about itself: status bar, banner, messages about a run, which actions can be used.
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "core/model/gguf.h"
#include "core/session/fair_comparison.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

/// "83–96 %" over the lanes that are not exact.
QString coverageRange(const RunInfo& info, const EngineStatus& status, double (Coverage::*side)() const) {
    double low = 1, high = 0;
    for (size_t i = 0; i < std::min(info.lanes.size(), status.coverage.size()); ++i) {
        if (info.lanes[i].exact || info.lanes[i].failed || !info.experiment.lanes[i].enabled) continue;
        low = std::min(low, (status.coverage[i].*side)());
        high = std::max(high, (status.coverage[i].*side)());
    }
    if (low > high) return {};
    const int a = qRound(low * 100), b = qRound(high * 100);
    return a == b ? QStringLiteral("%1 %").arg(a) : QStringLiteral("%1–%2 %").arg(a).arg(b);
}

}  // namespace

void MainWindow::showRunNotes() {
    for (int i = 0; i < 32; ++i)
        messages_->clear(QStringLiteral("lane-%1").arg(i));
    for (const char* key : {"changed", "note", "make-equal"})
        messages_->clear(QLatin1String(key));
    showUnequal();
    const RunModel& run = controller_.run();
    if (run.empty()) return;
    if (!run.info().note.empty())
        messages_->show(QStringLiteral("note"), MessageBar::Kind::info, QString::fromStdString(run.info().note));
    for (size_t i = 0; i < run.info().lanes.size(); ++i) {
        const auto& lane = run.info().lanes[i];
        if (lane.why.empty()) continue;
        messages_->show(QStringLiteral("lane-%1").arg(i), MessageBar::Kind::warn,
                        tr("Requested %1, running %2: %3")
                            .arg(QString::fromStdString(lane.requested), QString::fromStdString(lane.active),
                                 QString::fromStdString(lane.why)));
    }
}

/// What makes the run shown unequal, and a button while the experiment would repeat it.
void MainWindow::showUnequal() {
    const QString unequal = unequalNote(controller_.run());
    if (unequal.isEmpty()) return messages_->clear(QStringLiteral("unequal"));
    MessageBar* bar = messages_->show(QStringLiteral("unequal"), MessageBar::Kind::warn, unequal);
    if (!equal_terms(compared_lanes(controller_.experiment())))
        bar->addAction(
            tr("Make equal"), [this] { actions_["make-equal"]->trigger(); }, true);
}

void MainWindow::showFailure() {
    messages_->show(QStringLiteral("failure"), MessageBar::Kind::bad,
                    QString::fromStdString(controller_.status().error.message()));
}

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
    actions_["make-equal"]->setEnabled(!equal_terms(compared_lanes(controller_.experiment())));
    banner_run_->setEnabled(model);
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
    const QString model = controller_.model() ? tr("one model") : tr("no model yet");
    banner_title_->setText(n == 1 ? tr("Ready: one cache, one text, %1").arg(model)
                                  : tr("Ready: %1 caches, one text, %2").arg(n).arg(model));
    const QString what = e.score_text ? tr("scored") : tr("written");
    banner_text_->setText(
        e.n_tokens > 0 ? tr("%1 tokens %2 through %3 and %4 compressed. No GPU needed.")
                             .arg(countText(e.n_tokens), what,
                                  QString::fromStdString(e.lanes.empty() ? "" : e.lanes[size_t(e.reference)].spec.text))
                             .arg(n - 1)
                       : tr("The whole text %1 through %2 caches. No GPU needed.").arg(what).arg(n));
    banner_run_->setText(n == 1 ? tr("Run 1 lane") : tr("Run %1 lanes").arg(n));
}

void MainWindow::showStatus() {
    const EngineStatus& s = controller_.status();
    const RunModel& run = controller_.run();
    const QString counts = tr("%1 of %2 tokens").arg(countText(s.n_done), countText(s.n_planned));
    QString coverage;
    if (!run.empty() && !s.coverage.empty()) {
        const QString k = coverageRange(run.info(), s, &Coverage::k), v = coverageRange(run.info(), s, &Coverage::v);
        if (!k.isEmpty()) coverage = tr(" · coverage K %1, V %2").arg(k, v);
    }
    QString text;
    if (controller_.runIsFromFile() && s.state != EngineState::loading && !controller_.underWay()) {
        status_text_->setText(tr("Ready · the run shown is from a session"));
        return showKernels();
    }
    switch (s.state) {
        case EngineState::loading:
            text = tr("Loading · %1").arg(QString::fromStdString(s.what));
            break;
        case EngineState::prompt:
            text = tr("Reading the prompt");
            break;
        case EngineState::running:
            text = tr("Running · ") + counts + coverage;
            break;
        case EngineState::paused:
            text = tr("Paused · ") + counts + coverage;
            break;
        case EngineState::noise_floor:
            text = tr("Measuring the noise floor · ") + counts + coverage;
            break;
        case EngineState::finished:
            text = tr("Done · ") + counts + coverage;
            break;
        case EngineState::stopped:
            text = tr("Stopped · ") + counts + coverage;
            break;
        case EngineState::failed:
            text = tr("Not done · %1").arg(QString::fromStdString(s.error.what));
            break;
        case EngineState::idle:
            if (!controller_.model())
                text = tr("No model is open");
            else
                text = tr("Ready · %1 loaded · %2")
                           .arg(modelTitle(controller_.model()->file().path(), controller_.model()->config().weights),
                                run.empty() ? tr("nothing measured") : tr("the run shown was made before"));
    }
    status_text_->setText(text);
    if (s.state == EngineState::noise_floor) status_text_->setToolTip(text + QLatin1Char('\n') + noiseFloorSentence());
    showKernels();
}

void MainWindow::showKernels() {
    const RunModel& run = controller_.run();
    const bool fused = (run.empty() ? controller_.experiment() : run.info().experiment).kernels == KernelPath::fused;
    QStringList facts{fused ? tr("fused kernels") : tr("reference kernels")};
    if (!run.empty()) {
        if (!run.info().simd.empty()) facts.append(QString::fromStdString(run.info().simd));
        if (run.info().n_threads > 0) facts.append(tr("%1 threads").arg(run.info().n_threads));
    }
    facts.append(tr("CPU"));
    status_facts_->setText(facts.join(QStringLiteral(" · ")));
}

}  // namespace kvasir::ui
