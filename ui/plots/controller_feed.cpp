// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/controller_feed.h"

#include <utility>

#include "core/session/token_plan.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

ControllerFeed::ControllerFeed(RunController& controller) : PlotFeed(&controller), controller_(controller) {
    connect(&controller, &RunController::runBegan, this, [this] {
        frame_.reset();
        growth_.stop();
        pace_.begin();
        emit runBegan();
    });
    clock_.start();
    growth_.setSingleShot(true);
    connect(&growth_, &QTimer::timeout, this, &ControllerFeed::passOn);
    connect(&controller, &RunController::recordsAppended, this, &ControllerFeed::grow);
    connect(&controller, &RunController::distributionReady, this,
            [this](std::shared_ptr<const DistributionFrame> frame) {
                frame_ = std::move(frame);
                if (!growth_.isActive()) passOnFrame();
            });
    connect(&controller, &RunController::statusChanged, this, &ControllerFeed::readStatus);
    connect(&controller, &RunController::experimentChanged, this, &ControllerFeed::countTokens);
    connect(&controller, &RunController::modelChanged, this, &ControllerFeed::countTokens);
    connect(&counter_, &TokenCounter::counted, this, &ControllerFeed::plan);
    readStatus();
    countTokens();
}

const RunModel& ControllerFeed::run() const {
    return controller_.run();
}

void ControllerFeed::requestDistribution(const DistributionRequest& request) {
    looked_at_ = request;
    controller_.requestDistribution(request);
}

void ControllerFeed::cancelDistribution() {
    looked_at_.reset();
    controller_.cancelDistribution();
}

void ControllerFeed::passOnFrame() {
    if (frame_) emit distributionReady(std::exchange(frame_, nullptr));
}

void ControllerFeed::grow() {
    const int wait = controller_.flowing() ? pace_.wait(clock_.elapsed(), controller_.frameInterval()) : 0;
    if (wait == 0)
        passOn();
    else if (!growth_.isActive())
        growth_.start(wait);
}

void ControllerFeed::passOn() {
    growth_.stop();
    pace_.shown(clock_.elapsed());
    passOnFrame();
    emit recordsAppended();
}

void ControllerFeed::readStatus() {
    if (!controller_.flowing()) {
        if (growth_.isActive()) passOn();
        const bool paused = controller_.status().state == EngineState::paused;
        if (paused && looked_at_) controller_.requestDistribution(*looked_at_);  // of the token that it stands at
    }
    const bool under_way = takes_tokens(controller_.status().state);
    if (under_way == under_way_) return;
    under_way_ = under_way;
    emit runningChanged();
}

void ControllerFeed::countTokens() {
    if (!controller_.model() || !controller_.run().empty()) return;  // what was measured is shown, not what is planned
    const Experiment& e = controller_.experiment();
    counter_.count(controller_.model(), e.prompt, e.chat && !e.score_text);
}

void ControllerFeed::plan(int n_tokens) {
    const ModelConfig& c = controller_.model()->config();
    const auto tokens = plan_tokens(controller_.experiment(), n_tokens, c.context_length);
    plan_.reset();
    plan_problem_.reset();
    if (!tokens) plan_problem_ = tokens.error();
    if (tokens)
        plan_ = PlannedRun{controller_.experiment(),
                           {c.n_layers, c.n_kv_heads, c.head_dim, tokens->n_prompt + tokens->n_planned},
                           tokens->n_prompt,
                           tokens->n_planned};
    emit planChanged();
}

ControllerFeed& ControllerFeed::of(RunController& controller) {
    if (auto* feed = controller.findChild<ControllerFeed*>(QString(), Qt::FindDirectChildrenOnly)) return *feed;
    return *new ControllerFeed(controller);
}

}  // namespace kvasir::ui
