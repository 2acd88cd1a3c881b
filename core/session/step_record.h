// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time_split.h"
#include "core/cache/kv_cache.h"
#include "core/measure/divergence.h"

namespace kvasir {

/// Everything measured for one lane at one token. The token at `position` was predicted by the step before it; a record
/// says how the lane predicted it and what the cache was like at that moment.
struct StepRecord {
    uint64_t run = 0;         ///< RunInfo::serial of the run it belongs to
    int lane = 0;             ///< index into Experiment::lanes
    int step = 0;             ///< 0-based count of scored or generated tokens; step 0 comes from the prompt pass
    int position = 0;         ///< index of the token in the sequence
    int token_id = 0;         ///< the token that stands at `position` in this lane
    float nll = 0;            ///< -log p(token_id) under this lane, nats
    float delta_logprob = 0;  ///< log p(token) under this lane minus under the reference, nats
    float kl = 0;             ///< KL(reference || lane) over the whole vocabulary, nats
    float probability = 0, reference_probability = 0;  ///< of token_id
    int top1_id = 0;
    bool top1_agrees = true;  ///< with the reference's top1
    int rank = 0;             ///< of token_id in this lane, 0 = most likely
    float margin = 0;         ///< log-probability of the most likely token minus the second
    bool comparable = true;   ///< false in a free-running lane once its text has left the reference's:
                             ///< then the fields that compare (delta, kl, reference_probability, agreement) say nothing
    std::array<TopToken, 5> top{};
    ByteLedger bytes;
    int n_cached = 0;    ///< tokens in the cache when the prediction was made
    Coverage coverage;   ///< of all reads up to this prediction; zero at step 0, which the prompt pass predicts
    TimeSplit time;      ///< of the step that made the prediction; zero for step 0
    double step_ns = 0;  ///< wall time of the whole lock-step, all lanes
    std::vector<float>
        attention_error;  ///< (n_layers) |o - o_ref| / |o_ref| of the attention output; empty: not recorded
};

/// A lane that gave up in the middle of a run. What it measured until then is no figure of its scheme.
struct LaneStop {
    uint64_t run = 0;  ///< RunInfo::serial
    int lane = 0;
    std::string reason;
};

/// How far the reference moved at one step when it was drawn a second time (Experiment::noise_floor). It comes later
/// than the step's own records.
struct FloorRecord {
    uint64_t run = 0;         ///< RunInfo::serial
    int step = 0;             ///< StepRecord::step
    float kl = 0;             ///< KL(reference || the reference in the noise floor's pass), nats
    float delta_logprob = 0;  ///< the noise floor's pass's log p(token) minus the reference's, nats
    std::vector<float> attention_error =
        {};  ///< (n_layers) of the noise floor's pass, as StepRecord's; empty: not recorded
    friend bool operator==(const FloorRecord&, const FloorRecord&) = default;
};

}  // namespace kvasir
