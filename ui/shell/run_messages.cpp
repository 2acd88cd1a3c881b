// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_messages.h"

#include <QFileInfo>

#include "core/session/fair_comparison.h"
#include "ui/plots/plot_text.h"
#include "ui/shell/actions.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

namespace {

const QString kFailure = QStringLiteral("failure"), kChanged = QStringLiteral("changed"),
              kUnequal = QStringLiteral("unequal"), kNote = QStringLiteral("note"),
              kModel = QStringLiteral("model-warnings"), kOtherModel = QStringLiteral("other-model");

QString laneKey(size_t lane) {
    return QStringLiteral("lane-%1").arg(lane);
}

}  // namespace

RunMessages::RunMessages(RunController& controller, Actions& actions, MessageArea& messages, QObject* parent)
    : QObject(parent), controller_(controller), actions_(actions), messages_(messages) {
    connect(&controller_, &RunController::runBegan, this, &RunMessages::runBegan);
    connect(&controller_, &RunController::statusChanged, this, &RunMessages::statusChanged);
    connect(&controller_, &RunController::experimentChanged, this, &RunMessages::experimentChanged);
    connect(&controller_, &RunController::modelChanged, this, &RunMessages::modelChanged);
}

void RunMessages::runBegan() {
    for (size_t i = 0; i < 32; ++i)
        messages_.clear(laneKey(i));
    for (const QString& key : {kChanged, kNote, QStringLiteral("make-equal")})
        messages_.clear(key);
    showUnequal();
    showOtherModel();
    const RunModel& run = controller_.run();
    if (run.empty()) return;
    if (!run.info().note.empty())
        messages_.show(kNote, MessageBar::Kind::info, QString::fromStdString(run.info().note));
    const Experiment& e = run.info().experiment;
    for (size_t i = 0; i < run.info().lanes.size(); ++i) {
        const auto& lane = run.info().lanes[i];
        if (lane.why.empty() || (!e.lanes[i].enabled && int(i) != e.reference)) continue;  // nobody asked it to run
        messages_.show(laneKey(i), MessageBar::Kind::warn,
                       lane.active.empty()
                           ? tr("%1 does not run: %2")
                                 .arg(QString::fromStdString(lane.requested), QString::fromStdString(lane.why))
                           : tr("Requested %1, running %2: %3")
                                 .arg(QString::fromStdString(lane.requested), QString::fromStdString(lane.active),
                                      QString::fromStdString(lane.why)));
    }
}

void RunMessages::statusChanged() {
    const EngineStatus& s = controller_.status();
    if (s.state != EngineState::failed)
        messages_.clear(kFailure);
    else if (s.n_failures != n_failures_)
        messages_.show(kFailure, MessageBar::Kind::bad, QString::fromStdString(s.error.message()));
    n_failures_ = s.n_failures;
    if (s.state == EngineState::finished && s.run_serial != finished_run_) {
        finished_run_ = s.run_serial;
        messages_.clear(QStringLiteral("kept"));  // that the run before this one was not saved
    }
    for (size_t i = 0; i < s.lane_errors.size(); ++i)
        if (const QString why = QString::fromStdString(s.lane_errors[i]);
            !why.isEmpty() && !messages_.message(laneKey(i)))
            messages_.show(laneKey(i), MessageBar::Kind::warn, why);
}

void RunMessages::modelChanged() {
    messages_.clear(kFailure);
    messages_.clear(kModel);
    QStringList warnings;
    for (const std::string& warning : controller_.model()->warnings())
        warnings.append(QString::fromStdString(warning));
    if (!warnings.isEmpty())
        messages_.show(kModel, MessageBar::Kind::warn,
                       tr("About this model: %1.").arg(warnings.join(QStringLiteral("; "))));
    showOtherModel();
}

/// A session names its model by path; the file there may be another one by now.
void RunMessages::showOtherModel() {
    messages_.clear(kOtherModel);
    const RunModel& run = controller_.run();
    const auto model = controller_.model();
    if (run.empty() || !controller_.runIsFromFile() || !model) return;
    const RunInfo& info = run.info();
    if (info.experiment.model_path != model->file().path() || info.model_sha256.empty() ||
        info.model_sha256 == model->sha256())
        return;
    messages_.show(kOtherModel, MessageBar::Kind::warn,
                   tr("%1 is not the file this run was made with: its SHA-256 begins with %2, that of the run with %3. "
                      "What is shown was measured with the other file; a new run uses this one.")
                       .arg(QFileInfo(QString::fromStdString(info.experiment.model_path)).fileName(),
                            QString::fromStdString(model->sha256().substr(0, 8)),
                            QString::fromStdString(info.model_sha256.substr(0, 8))));
}

void RunMessages::experimentChanged() {
    messages_.clear(kFailure);  // what failed was another experiment
    messages_.clear(QStringLiteral("make-equal"));
    if (messages_.message(kUnequal)) showUnequal();
    const RunModel& run = controller_.run();
    Experiment e = controller_.experiment();
    if (!run.empty()) e.model_path = run.info().experiment.model_path;
    if (run.empty() || e == run.info().experiment) return messages_.clear(kChanged);
    if (messages_.message(kChanged)) return;
    messages_.show(kChanged, MessageBar::Kind::info, tr("The experiment has changed since this run."))
        ->addAction(tr("Run again"), [this] { actions_["run"]->trigger(); });
}

/// What makes the run shown unequal, and a button while the experiment would repeat it.
void RunMessages::showUnequal() {
    const QString unequal = unequalNote(controller_.run());
    if (unequal.isEmpty()) return messages_.clear(kUnequal);
    MessageBar* bar = messages_.show(kUnequal, MessageBar::Kind::warn, unequal);
    if (!equal_terms(compared_lanes(controller_.experiment())))
        bar->addAction(
            tr("Make equal"), [this] { actions_["make-equal"]->trigger(); }, true);
}

}  // namespace kvasir::ui
