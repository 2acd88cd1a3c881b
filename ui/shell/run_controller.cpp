// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_controller.h"

#include <QThread>
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/session/lane_identity.h"

namespace kvasir::ui {

namespace {

constexpr int kActiveInterval = FramePace::kShortest, kIdleInterval = 100;  // ms
constexpr int kQuickTicks = 6;                                              // after a step

bool active(EngineState state) {
    return state == EngineState::loading || (under_way(state) && state != EngineState::paused);
}

bool sameStatus(const EngineStatus& a, const EngineStatus& b) {
    return a.state == b.state && a.progress == b.progress && a.floor_progress == b.floor_progress && a.what == b.what &&
           a.n_done == b.n_done && a.n_planned == b.n_planned && a.elapsed_s == b.elapsed_s &&
           a.run_serial == b.run_serial && a.n_failures == b.n_failures && a.error.message() == b.error.message() &&
           a.lane_errors == b.lane_errors;
}

}  // namespace

RunController::RunController(QObject* parent)
    : QObject(parent), experiment_(withMarks(Experiment::first_start())), pace_(QThread::idealThreadCount()) {
    timer_.setTimerType(Qt::PreciseTimer);
    timer_.setInterval(kIdleInterval);
    connect(&timer_, &QTimer::timeout, this, &RunController::tick);
    timer_.start();
}

void RunController::setExperiment(const Experiment& experiment) {
    experiment_ = withMarks(experiment);
    emit experimentChanged();
}

Experiment RunController::withMarks(Experiment experiment) const {
    give_marks(experiment, run_->empty() ? nullptr : &run_->info().experiment);
    return experiment;
}

void RunController::loadModel(const QString& path) {
    engine_.load_model(path.toStdString(), experiment_.n_threads);
    timer_.start(kActiveInterval);
}

void RunController::start() {
    stepping_ = step_awaits_run_ = false;
    engine_.start(experiment_);
    timer_.start(kActiveInterval);
}

void RunController::pause() {
    engine_.pause();
}

void RunController::resume() {
    stepping_ = false;
    engine_.resume();
    timer_.start(kActiveInterval);
}

void RunController::step() {
    if (step_awaits_run_) return;  // the run it asked for has not begun
    const bool goes_on = takes_tokens(status_.state);
    if (goes_on)
        engine_.step();
    else
        engine_.start(experiment_, true);
    step_awaits_run_ = !goes_on;
    stepping_ = true;
    n_done_before_step_ = goes_on ? status_.n_done : 0;
    timer_.start(kActiveInterval);
}

void RunController::stop() {
    step_awaits_run_ = false;
    engine_.stop();
}

void RunController::endRun() {
    engine_.cancel_load();
    engine_.stop(false);
    engine_.wait_until_idle();
    tick();
}

Session RunController::session() const {
    Session session;
    session.experiment = experiment_;
    session.run = *run_;
    session.extra = session_extra_;
    return session;
}

void RunController::adoptSession(Session session) {
    engine_.stop(false);
    engine_.take_begun();  // nobody wants it any more
    const auto info = engine_.run_info();
    run_serial_ = info ? info->serial : 0;
    loaded_run_ = true;
    session_extra_ = std::move(session.extra);
    experiment_ = std::move(session.experiment);
    give_marks(experiment_, session.run.empty() ? nullptr : &session.run.info().experiment);
    replaceRun(std::make_shared<RunModel>(std::move(session.run)));
    emit experimentChanged();
    if (!run_->empty()) emit recordsAppended();
}

void RunController::replaceRun(std::shared_ptr<RunModel> run) {
    emit runLeaves();
    run_ = std::move(run);
    emit runBegan();
}

void RunController::requestDistribution(const DistributionRequest& request) {
    engine_.request_distribution(request);
}
void RunController::cancelDistribution() {
    engine_.cancel_distribution();
}

void RunController::beginRun(const RunBegun& begun) {
    run_serial_ = begun.info->serial;
    run_model_ = begun.model;
    loaded_run_ = false;
    const ModelConfig& config = run_model_->config();
    auto run = std::make_shared<RunModel>();
    run->begin(begun.info, config.n_layers, config.n_kv_heads, config.head_dim);
    for (const int id : begun.info->prompt_ids)
        keepPiece(*run, id);
    replaceRun(std::move(run));
}

void RunController::keepPiece(RunModel& run, int id) {
    if (id >= 0) run.set_piece(id, std::string(run_model_->tokenizer().piece(id)));
}

bool RunController::append(RunRecords& records) {
    if (loaded_run_) return false;
    const auto first = std::stable_partition(records.steps.begin(), records.steps.end(),
                                             [this](const StepRecord& r) { return r.run != run_serial_; });
    std::vector<StepRecord> steps(std::make_move_iterator(first), std::make_move_iterator(records.steps.end()));
    records.steps.erase(first, records.steps.end());
    for (const StepRecord& r : steps) {
        keepPiece(*run_, r.token_id);
        keepPiece(*run_, r.top1_id);
        for (const TopToken& t : r.top)
            keepPiece(*run_, t.id);
    }
    const auto mine = [this](const auto& of_a_run) { return of_a_run.run == run_serial_; };
    const bool some = !steps.empty() || std::any_of(records.floors.begin(), records.floors.end(), mine) ||
                      std::any_of(records.stops.begin(), records.stops.end(), mine);
    run_->append(std::move(steps));
    run_->append(records.floors);
    run_->append(records.stops);
    return some;
}

void RunController::tick() {
    const EngineStatus status = engine_.status();
    RunRecords records = engine_.drain();
    bool grew = append(records);  // the last ones of the run that is shown
    const RunBegun begun = engine_.take_begun();
    if (auto model = engine_.model(); model && model != model_) {  // never older than the one of `begun`
        model_ = std::move(model);
        emit modelChanged();
    }
    if (begun.info && begun.info->serial != run_serial_) {
        if (grew) emit recordsAppended();
        beginRun(begun);
        grew = append(records);
    }
    if (status.run_serial == run_serial_ && !under_way(status.state) && !loaded_run_ && run_model_ != model_)
        run_model_.reset();  // all records are there: another model's memory is not held
    if (grew) emit recordsAppended();
    if (auto frame = engine_.take_distribution()) emit distributionReady(std::move(frame));
    if (!sameStatus(status, status_)) {
        status_ = status;
        if (under_way(status.state) || status.state == EngineState::failed) step_awaits_run_ = false;
        if (!active(status.state)) timer_.setInterval(kIdleInterval);
        emit statusChanged();
    }
    const bool stands = status_.state == EngineState::paused && status_.n_done > n_done_before_step_;
    if (stepping_ && !step_awaits_run_ && (stands || !underWay())) {
        stepping_ = false;
        n_quick_ticks_ = kQuickTicks;
    }
    const double drawn = FramePace::threadCpuMs();
    if (active(status_.state))
        timer_.setInterval(pace_.next(drawn));
    else
        pace_.idle(drawn);
    if (stepping_)  // it is to be seen at once
        timer_.setInterval(kActiveInterval);
    else if (n_quick_ticks_ > 0)
        timer_.setInterval(--n_quick_ticks_ > 0 || active(status_.state) ? kActiveInterval : kIdleInterval);
}

}  // namespace kvasir::ui
