// SPDX-License-Identifier: GPL-3.0-or-later
// The one place where the engine meets Qt: a timer, 30 Hz where the machine can afford it, drains the engine's log into
// the run model and tells the views.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>

#include "core/session/engine.h"
#include "core/session/run_model.h"
#include "core/session/session_file.h"
#include "ui/shell/frame_pace.h"

namespace kvasir::ui {

class RunController : public QObject {
    Q_OBJECT
 public:
    explicit RunController(QObject* parent = nullptr);

    Engine& engine() { return engine_; }
    const RunModel& run() const { return *run_; }
    /// For views that lay out its records: what they point to stays until they let go of it.
    std::shared_ptr<const RunModel> sharedRun() const { return run_; }
    bool runIsFromFile() const { return loaded_run_; }
    const EngineStatus& status() const { return status_; }  ///< as of the last tick
    /// A run has begun and not ended.
    bool underWay() const { return under_way(status_.state); }
    /// No more records will come for run().
    bool runIsOver() const {
        return !run_->empty() && (loaded_run_ || (status_.run_serial == run_serial_ && !underWay()));
    }
    /// Tokens come one after the other: what has come may be drawn a little later. Not so in a pause or a step.
    bool flowing() const { return underWay() && status_.state != EngineState::paused && !stepping_; }
    int frameInterval() const { return timer_.interval(); }  ///< ms, of the pace at the moment
    std::shared_ptr<const Model> model() const { return model_; }
    const Experiment& experiment() const { return experiment_; }
    void setExperiment(const Experiment& experiment);  ///< what the next Run will use
    /// What the views show: the run's experiment, or the next one while there is no run.
    const Experiment& shownExperiment() const { return run_->empty() ? experiment_ : run_->info().experiment; }
    /// With letters, colours and markers for lanes that have none yet, beside those of the run that is shown.
    Experiment withMarks(Experiment experiment) const;

    void loadModel(const QString& path);
    void start();
    void pause();
    void resume();
    void step();  ///< one token, then pause; starts a run when none is under way
    void stop();
    /// Stops whatever is done, waits for it (one layer at most) and takes what it measured: before the window closes.
    void endRun();

    /// Session in the form that is saved; and the other way: replaces experiment and run, and tells everybody. Nothing
    /// is copied then, so that what could be read can be shown.
    Session session() const;
    void adoptSession(Session session);

    void requestDistribution(const DistributionRequest& request);
    void cancelDistribution();

 signals:
    void modelChanged();
    void experimentChanged();
    void runLeaves();        ///< run() is still there, another takes its place now: let go of all that belongs to it
    void runBegan();         ///< run() is a new, empty (or loaded) run
    void recordsAppended();  ///< run() grew; at most 30 times a second
    void statusChanged();    ///< status() differs from the last tick's
    void distributionReady(std::shared_ptr<const kvasir::DistributionFrame> frame);

 private:
    void tick();
    void beginRun(const RunBegun& begun);
    void replaceRun(std::shared_ptr<RunModel> run);
    bool append(RunRecords& records);       ///< takes those of run(); false: there were none
    void keepPiece(RunModel& run, int id);  ///< the run keeps the bytes of every token it names

    Engine engine_;
    std::shared_ptr<RunModel> run_ = std::make_shared<RunModel>();
    EngineStatus status_;
    Experiment experiment_;
    std::shared_ptr<const Model> model_;
    std::shared_ptr<const Model> run_model_;                   ///< what run_ is made with, while records of it may come
    nlohmann::json session_extra_ = nlohmann::json::object();  ///< keys of the last session file that are not ours
    uint64_t run_serial_ = 0;
    bool step_awaits_run_ = false;  ///< a step has started a run that is not seen yet
    bool stepping_ = false;         ///< a step was asked for and is not shown yet
    int n_done_before_step_ = 0;
    int n_quick_ticks_ = 0;    ///< after a step its distribution follows
    bool loaded_run_ = false;  ///< run_ came from a file: late records of the run before are not its own
    QTimer timer_;
    FramePace pace_;
};

}  // namespace kvasir::ui
