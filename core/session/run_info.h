// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/session/experiment.h"

namespace kvasir {

/// What is known when a run starts, before its first record.
struct RunInfo {
    uint64_t serial = 0;  ///< counts runs of this process
    Experiment experiment;
    std::vector<int> prompt_ids;
    int n_text_tokens = 0;                  ///< score_text: of the whole text, the prompt included
    int n_planned = 0;                      ///< tokens that will be scored or generated at most
    std::string note;                       ///< what was changed against the experiment and why ("" when nothing)
    int n_threads = 0;                      ///< threads that run
    std::string simd;                       ///< instruction set of the kernels, e.g. "AVX2"
    std::string model_name, model_weights;  ///< weights as they run
    std::string model_sha256;               ///< of the bytes that were read; "": not known
    std::vector<std::string> warnings;      ///< of the model: what its file asks for and is not done
    struct LaneInfo {
        std::string requested, active, why;  ///< spec asked for, long spec that runs, and why they differ ("" when not)
        std::string title;                   ///< for people: "Quanto int4"
        double nominal_bits = 0;             ///< per value, mean of K and V
        bool exact = false;
        bool failed = false;  ///< the lane does not run
        Error error;          ///< why not
    };
    std::vector<LaneInfo> lanes;  ///< one per lane of the experiment, disabled ones included
};

}  // namespace kvasir
