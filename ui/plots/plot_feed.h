// SPDX-License-Identifier: GPL-3.0-or-later
// All that plots know about where runs come from, so that they can be fed without an engine.
#pragma once

#include <QObject>
#include <memory>
#include <optional>

#include "core/session/distribution.h"
#include "core/session/run_model.h"
#include "ui/plots/planned_run.h"

namespace kvasir::ui {

class PlotFeed : public QObject {
    Q_OBJECT
 public:
    using QObject::QObject;
    virtual const RunModel& run() const = 0;
    /// More records may come for run(): keep room for the planned tokens. (A run that has been started and is not run()
    /// yet has none.)
    bool running() const { return !run().empty() && underWay(); }
    /// The next run, while nothing was measured yet; nothing when too little is known.
    virtual std::optional<PlannedRun> plannedRun() const { return std::nullopt; }
    virtual void requestDistribution(const DistributionRequest& request) = 0;
    virtual void cancelDistribution() = 0;

 protected:
    virtual bool underWay() const = 0;  ///< whoever feeds takes tokens

 signals:
    void runBegan();
    void recordsAppended();
    void runningChanged();
    void planChanged();
    void distributionReady(std::shared_ptr<const kvasir::DistributionFrame> frame);
};

}  // namespace kvasir::ui
