// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/controller_feed.h"

#include "ui/shell/run_controller.h"

namespace kvasir::ui {

ControllerFeed::ControllerFeed(RunController& controller) : PlotFeed(&controller), controller_(controller) {
    connect(&controller, &RunController::runBegan, this, &PlotFeed::runBegan);
    connect(&controller, &RunController::recordsAppended, this, &PlotFeed::recordsAppended);
    connect(&controller, &RunController::distributionReady, this, &PlotFeed::distributionReady);
    connect(&controller, &RunController::statusChanged, this, &ControllerFeed::readStatus);
    readStatus();
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

void ControllerFeed::readStatus() {
    const EngineState state = controller_.status().state;
    const bool running = state == EngineState::prompt || state == EngineState::running || state == EngineState::paused;
    if (running == running_) return;
    running_ = running;
    emit runningChanged();
}

ControllerFeed& ControllerFeed::of(RunController& controller) {
    if (auto* feed = controller.findChild<ControllerFeed*>(QString(), Qt::FindDirectChildrenOnly)) return *feed;
    return *new ControllerFeed(controller);
}

}  // namespace kvasir::ui
