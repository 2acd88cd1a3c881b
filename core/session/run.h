// SPDX-License-Identifier: GPL-3.0-or-later
// One experiment being carried out, one token at a time, on the calling thread. The engine wraps it in a thread; the
// command line and the tests use it as it is.
#pragma once

#include <memory>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/cache/kv_cache.h"
#include "core/model/model.h"
#include "core/session/run_info.h"
#include "core/session/step_record.h"

namespace kvasir {

class Run {
 public:
    /// Checks the experiment against the model and makes the caches. A lane whose scheme cannot store this model's
    /// geometry is marked failed in info(); the others run. Refuses an empty prompt, one over the context, a missing
    /// reference.
    static Result<std::unique_ptr<Run>> create(std::shared_ptr<const Model> model, const Experiment& experiment);
    ~Run();

    const RunInfo& info() const;

    /// Reads the prompt into every lane's cache: lanes whose prompt attention is equal share one pass.
    Status read_prompt(const Progress& progress = {}, const CancelCheck& cancelled = {});

    /// Scores (and generates) the next token in every lane and appends one record per running lane. False when the run
    /// is over (all tokens, or every lane at its end). On `interrupted` the run cannot go on; what was recorded stays
    /// valid.
    Result<bool> next(std::vector<StepRecord>& records, const CancelCheck& cancelled = {});

    /// The noise floor (Experiment::noise_floor): so many steps wait for their floor that measure_floor is due; with
    /// `at_end`, any step does.
    bool floor_due(bool at_end = false) const;
    /// Draws the reference again at every step that waits and appends their floor. Takes time of its own, no lane's.
    /// After an error, `interrupted` among them, steps have no floor any more; the run itself can go on.
    Status measure_floor(std::vector<FloorRecord>& floors, const CancelCheck& cancelled = {});
    /// How often measure_floor asks whether it is cancelled, for those who show how far it is.
    int floor_layers() const;

    int n_done() const;
    /// nullptr for a lane that does not run.
    const KvCache* cache(int lane) const;
    /// Why a lane stopped early; "" while fine.
    const std::string& lane_error(int lane) const;
    /// The lanes that stopped since the last call.
    std::vector<LaneStop> take_stops();

 private:
    static Result<std::unique_ptr<Run>> create_or_throw(std::shared_ptr<const Model> model,
                                                        const Experiment& experiment);
    Status read_prompt_or_throw(const Progress& progress, const CancelCheck& cancelled);
    Result<bool> next_or_throw(std::vector<StepRecord>& records, const CancelCheck& cancelled);
    Status measure_floor_or_throw(std::vector<FloorRecord>& floors, const CancelCheck& cancelled);

    struct Impl;
    explicit Run(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Every lane over the same text with ONE forward pass: the measurement that never reads a cache. nll of tokens
/// [first_scored, n) of `ids` with exact attention, in order; identical for every scheme that reads its prompt exactly.
/// Refuses schemes that quantize as they write: there even one forward pass reads the cache.
Result<std::vector<double>> blind_nll(std::shared_ptr<const Model> model, const CacheSpec& spec,
                                      const std::vector<int>& ids, int first_scored, int n_threads,
                                      const CancelCheck& cancelled = {});

}  // namespace kvasir
