// SPDX-License-Identifier: GPL-3.0-or-later
// What is run, as a value: saved and loaded as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/model/sampler.h"

namespace kvasir {

enum class Mode {
    teacher_forced,  ///< every lane is given the reference's token (or the text's)
    free_running     ///< every lane follows its own sampler
};

struct LaneSetup {
    CacheSpec spec;
    bool enabled = true;
    int mark = -1;  ///< its letter, colour and marker, see core/session/lane_identity.h; -1: not given yet
    /// The same to run: how a lane is marked changes no number.
    friend bool operator==(const LaneSetup& a, const LaneSetup& b) {
        return a.spec == b.spec && a.enabled == b.enabled;
    }
};

struct Experiment {
    std::string model_path;
    /// The prompt that is continued; or, with score_text, a text of which the first `prefill` tokens are the prompt and
    /// the next n_tokens are given and scored one by one.
    std::string prompt;
    bool chat = false;
    bool score_text = false;
    int prefill = 128;
    int n_tokens = 56;  ///< tokens to generate, or to score (0 with score_text: all)
    Mode mode = Mode::teacher_forced;
    Sampling sampling;
    std::vector<LaneSetup> lanes;
    int reference = 0;  ///< index into lanes: what errors are measured against
    KernelPath kernels = KernelPath::fused;
    int n_threads = 0;         ///< 0: physical cores
    int prefill_chunk = 128;   ///< tokens per prompt pass; never changes a number
    bool layer_errors = true;  ///< record the per-layer error rows
    int sum_order = 0;  ///< order of the sums of every matrix product: each is another draw of the rounding errors
    /// Ids that end a lane's generated text, beside the model's own ends of generation.
    std::vector<int> stop_ids;
    int min_tokens = 0;        ///< no id that ends a text is sampled before so many tokens
    bool noise_floor = false;  ///< also draw the reference again with another sum order and record how far it moves

    /// Lanes fp16, quanto:4, quanto:2, hadamard:2 on the given prompt: the first start.
    static Experiment first_start();
};

bool operator==(const Experiment& a, const Experiment& b);

}  // namespace kvasir
