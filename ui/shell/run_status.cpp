// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_status.h"

#include <QProgressBar>
#include <QStatusBar>
#include <algorithm>

#include "core/model/gguf.h"
#include "ui/shell/format.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"
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

QProgressBar* makeBar(const QString& name) {
    auto* bar = new QProgressBar;
    bar->setTextVisible(false);
    bar->setRange(0, 1000);
    bar->setAccessibleName(name);
    bar->hide();
    return bar;
}

void setShare(QProgressBar* bar, double share) {
    bar->setUpdatesEnabled(false);  // its setValue() would paint the whole window at once, before the lanes are told
    bar->setValue(qRound(std::clamp(share, 0.0, 1.0) * 1000));
    bar->setUpdatesEnabled(true);
}

}  // namespace

RunStatus::RunStatus(RunController& controller, QStatusBar& bar)
    : QObject(&bar),
      controller_(controller),
      text_(new OneLineLabel),
      facts_(new OneLineLabel),
      progress_(makeBar(tr("Progress"))),
      floor_(makeBar(tr("Progress of the noise floor"))) {
    progress_->setObjectName(QStringLiteral("run-progress"));
    floor_->setObjectName(QStringLiteral("floor-progress"));
    floor_->setToolTip(noiseFloorSentence());
    text_->setObjectName(QStringLiteral("status-text"));
    typeset(text_, 9);
    typeset(facts_, 9, Face::regular, QStringLiteral("dim"));
    facts_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    bar.setSizeGripEnabled(false);
    bar.setContentsMargins(8, 0, 8, 0);
    bar.addWidget(progress_);
    bar.addWidget(floor_);
    bar.addWidget(text_, 3);
    bar.addPermanentWidget(facts_, 1);
    connect(&controller_, &RunController::statusChanged, this, [this] { show(); });
    connect(&controller_, &RunController::experimentChanged, this, [this] {
        if (controller_.status().state != EngineState::failed) return;
        n_old_failures_ = controller_.status().n_failures;  // what failed was another experiment
        show();
    });
    restyle();
    show();
}

void RunStatus::restyle() {
    for (QProgressBar* bar : {progress_, floor_})
        bar->setFixedWidth(Theme::instance().px(90));
}

QString RunStatus::text() const {
    return text_->text();
}

void RunStatus::say(const QString& sentence) {
    text_->setText(sentence);
}

void RunStatus::show() {
    show(controller_.status());
}

void RunStatus::show(const EngineStatus& status) {
    text_->setText(sentence(status));
    if (status.state == EngineState::noise_floor)
        text_->setToolTip(text_->text() + QLatin1Char('\n') + noiseFloorSentence());
    showProgress(status);
    showFacts();
}

void RunStatus::showProgress(const EngineStatus& s) {
    const bool under_way = kvasir::under_way(s.state);
    const bool floor = under_way && (s.floor_progress >= 0 || s.state == EngineState::noise_floor);
    progress_->setVisible(s.state == EngineState::loading || (under_way && !floor));
    floor_->setVisible(floor);
    setShare(progress_, s.progress);
    setShare(floor_, s.floor_progress);
}

QString RunStatus::sentence(const EngineStatus& s) const {
    const RunModel& run = controller_.run();
    const bool model = controller_.model() != nullptr;
    const QString counts = tr("%1 of %2 tokens").arg(countText(s.n_done), countText(s.n_planned));
    const QString share = s.progress > 0 ? tr(" · %1 %").arg(qRound(s.progress * 100)) : QString();
    // The time that is left stands in front of what may be cut.
    const QString left = s.n_done > 1 && s.n_done < s.n_planned
                             ? tr(" · %1 left").arg(durationText(s.elapsed_s / s.n_done * (s.n_planned - s.n_done)))
                             : QString();
    QString coverage;
    if (!run.empty() && !s.coverage.empty()) {
        const QString k = coverageRange(run.info(), s, &Coverage::k), v = coverageRange(run.info(), s, &Coverage::v);
        if (!k.isEmpty()) coverage = tr(" · coverage K %1, V %2").arg(k, v);
    }
    if (controller_.runIsFromFile() && s.state != EngineState::loading && !under_way(s.state)) {
        const int done = run.empty() ? 0 : int(run.lane(run.info().experiment.reference).size());
        const QString how_far = run.empty()
                                    ? tr("nothing measured")
                                    : tr("%1 of %2 tokens").arg(countText(done), countText(run.info().n_planned));
        return (model ? tr("Ready · the run shown is from a session: %1")
                      : tr("No model is open · the run shown is from a session: %1"))
            .arg(how_far);
    }
    switch (s.state) {
        case EngineState::loading:
            return tr("Loading · %1").arg(QString::fromStdString(s.what)) + share;
        case EngineState::prompt:
            return tr("Reading the prompt") + share;
        case EngineState::running:
            if (s.floor_progress >= 0)
                return tr("Noise floor · %1 % · ").arg(qRound(s.floor_progress * 100)) + counts + left + coverage;
            return tr("Running · ") + counts + left + coverage;
        case EngineState::paused:
            return tr("Paused · ") + counts + coverage;
        case EngineState::noise_floor:
            return tr("Measuring the noise floor · %1 % · ").arg(qRound(std::max(0.0, s.floor_progress) * 100)) +
                   counts + coverage;
        case EngineState::finished:
            return tr("Done · ") + counts + coverage;
        case EngineState::stopped:
            return tr("Stopped · ") + counts + coverage;
        case EngineState::failed:
            if (s.n_failures == n_old_failures_) break;
            return tr("Not done · %1").arg(QString::fromStdString(s.error.what));
        case EngineState::idle:
            break;
    }
    if (!model) return tr("No model is open");
    return tr("Ready · %1 loaded · %2")
        .arg(modelTitle(controller_.model()->file().path(), controller_.model()->config().weights),
             run.empty() ? tr("nothing measured") : tr("the run shown was made before"));
}

void RunStatus::showFacts() {
    const RunModel& run = controller_.run();
    const bool fused = (run.empty() ? controller_.experiment() : run.info().experiment).kernels == KernelPath::fused;
    QStringList facts{fused ? tr("fused kernels") : tr("reference kernels")};
    if (!run.empty()) {
        if (!run.info().simd.empty()) facts.append(QString::fromStdString(run.info().simd));
        if (run.info().n_threads > 0) facts.append(tr("%1 threads").arg(run.info().n_threads));
    }
    facts.append(tr("CPU"));
    facts_->setText(facts.join(QStringLiteral(" · ")));
}

}  // namespace kvasir::ui
