// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/controller_feed.h"

#include <utility>

#include "core/session/token_plan.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

ControllerFeed::ControllerFeed(RunController& controller) : PlotFeed(&controller), controller_(controller) {
    connect(&controller, &RunController::runBegan, this, [this] {
        frame_.reset();
        emit runBegan();
    });
    growth_.setSingleShot(true);
    connect(&growth_, &QTimer::timeout, this, &ControllerFeed::passOn);
    connect(&controller, &RunController::recordsAppended, this, [this] {
        constexpr int kFrames = 4;  // one plot costs as much as all the words of a frame
        if (!controller_.underWay())
            passOn();
        else if (!growth_.isActive())
            growth_.start(kFrames * controller_.frameInterval());
    });
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
    controller_.requestDistribution(request);
}

void ControllerFeed::cancelDistribution() {
    controller_.cancelDistribution();
}

void ControllerFeed::passOnFrame() {
    if (frame_) emit distributionReady(std::exchange(frame_, nullptr));
}

void ControllerFeed::passOn() {
    passOnFrame();
    emit recordsAppended();
}

void ControllerFeed::readStatus() {
    if (!controller_.underWay() && growth_.isActive()) {
        growth_.stop();
        passOn();
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
