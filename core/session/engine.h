// SPDX-License-Identifier: GPL-3.0-or-later
// Runs an Experiment on its own thread. Commands in (any thread), records out: a lossless log of small records and one
// latest-wins slot for the heavy distribution frame. Nothing here ever blocks the caller for longer than a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/distribution.h"
#include "core/session/experiment.h"
#include "core/session/run_info.h"
#include "core/session/run_log.h"
#include "core/session/run_observer.h"

namespace kvasir {

enum class EngineState {
    idle,
    loading,
    prompt,
    running,
    paused,
    noise_floor,  ///< no more tokens will come, the floor of the last ones will
    finished,
    stopped,
    failed
};

/// A run has begun and tokens will come.
constexpr bool takes_tokens(EngineState s) {
    return s == EngineState::prompt || s == EngineState::running || s == EngineState::paused;
}
/// A run has begun and something of it will come.
constexpr bool under_way(EngineState s) {
    return takes_tokens(s) || s == EngineState::noise_floor;
}

struct EngineStatus {
    EngineState state = EngineState::idle;
    double progress = 0;         ///< of loading, the prompt or the run, 0..1
    double floor_progress = -1;  ///< of the pass that measures the noise floor, 0..1; -1: none is under way
    std::string what;            ///< e.g. "reading weights"
    Error error;                 ///< with state failed
    int n_failures = 0;          ///< so far: one after another may say the same
    int n_done = 0, n_planned = 0;
    double elapsed_s = 0;            ///< of the run; pauses and the measurement of the noise floor excluded
    uint64_t run_serial = 0;         ///< of the RunInfo the records belong to
    std::vector<Coverage> coverage;  ///< per lane
    /// Lanes that stopped early, with the reason ("" while fine).
    std::vector<std::string> lane_errors;
};

/// A run and the model it is made with, which need not be the one that is open any more.
struct RunBegun {
    std::shared_ptr<const RunInfo> info;
    std::shared_ptr<const Model> model;
};

class Engine {
 public:
    Engine();
    ~Engine();  ///< stops and joins

    /// Loads in the background, with n_threads threads (0: one per physical core); the previous model stays until the
    /// new one is there. cancel_load() keeps the old one.
    void load_model(std::string path, int n_threads = 0);
    void cancel_load();
    std::shared_ptr<const Model> model() const;  ///< nullptr before the first one

    /// Starts a run, ending one in progress. Needs a model (else state failed). `one_token`: pauses after the first
    /// one. What is asked for comes by value, here and above: who has no memory for the copy has begun nothing.
    void start(Experiment experiment, bool one_token = false);
    void pause();
    void resume();
    void step();  ///< in a paused run: one token, then pause again
    /// Answered within one layer; what was measured stays. Its noise floor still comes, until a second stop, a new
    /// run or a new model ends that too; not at all without `with_floor`.
    void stop(bool with_floor = true);

    /// Told of every run that starts from now on, before its records can be drained.
    void observe(std::shared_ptr<RunObserver> observer);

    EngineStatus status() const;
    std::shared_ptr<const RunInfo> run_info() const;
    /// The run that began last, once: without info when none began since the last call. Asked AFTER drain() it is never
    /// older than those records.
    RunBegun take_begun();
    /// Takes the records that came since the last call. run_info() asked AFTER drain() is never older than them.
    RunRecords drain();

    /// Asks for pictures of this distribution from now on (while running, at once when not), until
    /// cancel_distribution().
    void request_distribution(const DistributionRequest& request);
    void cancel_distribution();
    /// The newest frame, or nullptr when there is none newer than the last one taken.
    std::shared_ptr<const DistributionFrame> take_distribution();

    /// Blocks until no load and no run is in progress (for the command line and tests).
    void wait_until_idle();

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvasir
