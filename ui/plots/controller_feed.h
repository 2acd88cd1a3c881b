// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include "ui/plots/plot_feed.h"
#include "ui/plots/plot_pace.h"
#include "ui/shell/token_counter.h"

namespace kvasir::ui {

class RunController;

/// The window's feed: passes on what the run controller says; while tokens flow, growth and distributions at the pace
/// of plots. What stands still (a step, a pause, the end) is passed on at once. Belongs to the controller.
class ControllerFeed : public PlotFeed {
    Q_OBJECT
 public:
    explicit ControllerFeed(RunController& controller);
    const RunModel& run() const override;
    std::optional<PlannedRun> plannedRun() const override { return plan_; }
    /// Why the experiment's text cannot be run; nothing while it can, or its tokens are not counted yet.
    const std::optional<Error>& planProblem() const { return plan_problem_; }
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
    void grow();
    void passOn();  ///< what was held back
    void passOnFrame();

    RunController& controller_;
    TokenCounter counter_;
    PlotPace pace_;
    QElapsedTimer clock_;
    std::optional<Error> plan_problem_;
    QTimer growth_;                                   ///< runs while growth is held back
    std::optional<DistributionRequest> looked_at_;    ///< the picture that a view wants
    std::shared_ptr<const DistributionFrame> frame_;  ///< held back with it
    std::optional<PlannedRun> plan_;
    bool under_way_ = false;
};

}  // namespace kvasir::ui
