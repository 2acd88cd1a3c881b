// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_feed.h"

namespace kvasir::ui {

class RunController;

/// The window's feed: passes on what the run controller says. Belongs to the controller.
class ControllerFeed : public PlotFeed {
    Q_OBJECT
 public:
    explicit ControllerFeed(RunController& controller);
    const RunModel& run() const override;
    bool running() const override { return running_; }
    void requestDistribution(const DistributionRequest& request) override;
    void cancelDistribution() override;

    /// The one feed of a controller, made on first use.
    static ControllerFeed& of(RunController& controller);

 private:
    void readStatus();

    RunController& controller_;
    bool running_ = false;
};

}  // namespace kvasir::ui
