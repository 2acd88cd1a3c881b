// SPDX-License-Identifier: GPL-3.0-or-later
// What a run was measured with and on: what captions and tables carry beside its figures.
#pragma once

#include <string>

#include "core/session/run_model.h"

namespace kvasir {

struct RunConditions {
    std::string program;       ///< "Kvasir 1.2.0": the one that writes the figures down
    std::string model;         ///< name and weights as they run
    std::string model_sha256;  ///< of the bytes that were read; "": not known, as in sessions of earlier versions
    std::string text_sha256;   ///< of the text as it was handed to the tokenizer
    std::string mode;          ///< "teacher-forced" or "free-running"
    std::string kernels;       ///< "fused" or "reference"
    std::string simd;          ///< instruction set of the kernels
    int n_threads = 0;         ///< 0: not known
    bool sampled = false;      ///< the tokens were drawn; else they were given by a text
    Sampling sampling;         ///< of what was drawn
    int n_scored = 0;          ///< of the reference
    int first_scored = 0;      ///< position
};

RunConditions run_conditions(const RunModel& run);

/// What stands beside one lane's figures.
struct LaneConditions {
    int n_scored = 0, n_compared = 0;
    int n_unread = 0;                       ///< of those compared: predicted before anything quantized was read
    bool exact = false;                     ///< has no quantized storage: there is no coverage
    double coverage_k = 0, coverage_v = 0;  ///< shares 0..1 of what was read while decoding
    bool coverage_known = false;            ///< false: nothing was counted
    std::string failure;                    ///< why the lane has no figures; "" when it has
};

LaneConditions lane_conditions(const RunModel& run, int lane);

}  // namespace kvasir
