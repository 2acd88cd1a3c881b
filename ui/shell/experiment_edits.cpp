// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/experiment_edits.h"

#include <QUndoCommand>
#include <utility>

#include "core/session/lane_identity.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

namespace {

class Edit : public QUndoCommand {
 public:
    Edit(RunController& controller, const QString& what, Experiment before, Experiment after)
        : QUndoCommand(what), controller_(controller), before_(std::move(before)), after_(std::move(after)) {}
    void undo() override { set(before_); }
    void redo() override { set(after_); }

 private:
    void set(Experiment experiment) {
        experiment.model_path = controller_.experiment().model_path;  // opening a model is not an edit
        controller_.setExperiment(experiment);
    }
    RunController& controller_;
    Experiment before_, after_;
};

QString nameOf(const CacheSpec& spec) {
    return QString::fromStdString(display_name(spec));
}

}  // namespace

ExperimentEdits::ExperimentEdits(RunController& controller, QObject* parent)
    : QObject(parent), controller_(controller) {
    stack_.setUndoLimit(200);
}

const Experiment& ExperimentEdits::experiment() const {
    return controller_.experiment();
}

void ExperimentEdits::apply(const QString& what, const Experiment& after) {
    if (after == experiment()) return;
    stack_.push(new Edit(controller_, what, experiment(), controller_.withMarks(after)));
}

bool ExperimentEdits::hasRoom() const {
    return int(experiment().lanes.size()) < kMostLanes;
}

void ExperimentEdits::addLane(const CacheSpec& spec, int mark) {
    if (!hasRoom()) return;
    Experiment e = experiment();
    e.lanes.push_back({spec, true, mark});
    apply(tr("Add %1").arg(nameOf(spec)), e);
}

void ExperimentEdits::replaceLane(int lane, const CacheSpec& spec) {
    Experiment e = experiment();
    e.lanes[size_t(lane)].spec = spec;
    apply(tr("Change lane to %1").arg(nameOf(spec)), e);
}

void ExperimentEdits::duplicateLane(int lane) {
    if (!hasRoom()) return;
    Experiment e = experiment();
    e.lanes.insert(e.lanes.begin() + lane + 1, e.lanes[size_t(lane)]);
    e.lanes[size_t(lane) + 1].mark = -1;  // another lane
    if (e.reference > lane) ++e.reference;
    apply(tr("Duplicate %1").arg(nameOf(e.lanes[size_t(lane)].spec)), e);
}

void ExperimentEdits::removeLane(int lane) {
    Experiment e = experiment();
    if (lane == e.reference || e.lanes.size() < 2) return;  // errors are measured against it
    const QString name = nameOf(e.lanes[size_t(lane)].spec);
    e.lanes.erase(e.lanes.begin() + lane);
    if (e.reference > lane) --e.reference;
    apply(tr("Remove %1").arg(name), e);
}

void ExperimentEdits::moveLane(int lane, int by) {
    Experiment e = experiment();
    const int to = lane + by;
    if (to < 0 || to >= int(e.lanes.size())) return;
    const LaneSetup moved = e.lanes[size_t(lane)];
    e.lanes.erase(e.lanes.begin() + lane);
    e.lanes.insert(e.lanes.begin() + to, moved);
    if (e.reference == lane)
        e.reference = to;
    else if (lane < e.reference && e.reference <= to)
        --e.reference;
    else if (to <= e.reference && e.reference < lane)
        ++e.reference;
    apply(tr("Move %1").arg(nameOf(e.lanes[size_t(to)].spec)), e);
}

void ExperimentEdits::enableLane(int lane, bool enabled) {
    Experiment e = experiment();
    if (lane == e.reference) return;
    e.lanes[size_t(lane)].enabled = enabled;
    apply(enabled ? tr("Use %1").arg(nameOf(e.lanes[size_t(lane)].spec))
                  : tr("Leave out %1").arg(nameOf(e.lanes[size_t(lane)].spec)),
          e);
}

}  // namespace kvasir::ui
