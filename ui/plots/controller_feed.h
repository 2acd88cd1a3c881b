// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "ui/plots/plot_feed.h"
#include "ui/shell/token_counter.h"

namespace kvasir::ui {

class RunController;

/// The window's feed: passes on what the run controller says, growth and distributions every few frames only: drawing
/// the plots anew costs more than the words that came. Belongs to the controller.
class ControllerFeed : public PlotFeed {
    Q_OBJECT
 public:
    explicit ControllerFeed(RunController& controller);
    const RunModel& run() const override;
    std::optional<PlannedRun> plannedRun() const override { return plan_; }
    void requestDistribution(const DistributionRequest& request) override;
    void cancelDistribution() override;

    /// The one feed of a controller, made on first use.
    static ControllerFeed& of(RunController& controller);

 protected:
    bool underWay() const override { return under_way_; }

 private:
    void readStatus();
    void countTokens();
    void plan(int n_tokens);  ///< of the experiment's text
    void passOn();            ///< what was held back
    void passOnFrame();

    RunController& controller_;
    TokenCounter counter_;
    QTimer growth_;                                   ///< runs while growth is held back
    std::shared_ptr<const DistributionFrame> frame_;  ///< held back with it
    std::optional<PlannedRun> plan_;
    bool under_way_ = false;
};

}  // namespace kvasir::ui
