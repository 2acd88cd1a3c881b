// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the experiment that can be taken back.
#pragma once

#include <QObject>
#include <QUndoStack>

#include "core/session/experiment.h"

namespace kvasir::ui {

class RunController;

class ExperimentEdits : public QObject {
    Q_OBJECT
 public:
    explicit ExperimentEdits(RunController& controller, QObject* parent = nullptr);

    QUndoStack& stack() { return stack_; }
    const Experiment& experiment() const;

    /// Makes `after` the experiment; `what` names the change for undo. Nothing happens when nothing changes.
    void apply(const QString& what, const Experiment& after);

    bool hasRoom() const;                                ///< for one more lane
    void addLane(const CacheSpec& spec, int mark = -1);  ///< -1: a free one
    void replaceLane(int lane, const CacheSpec& spec);
    void duplicateLane(int lane);
    void removeLane(int lane);
    void moveLane(int lane, int by);  ///< the lanes between make room; beyond an end nothing happens
    void enableLane(int lane, bool enabled);

 private:
    RunController& controller_;
    QUndoStack stack_;
};

}  // namespace kvasir::ui
