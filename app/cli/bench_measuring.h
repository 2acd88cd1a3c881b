// SPDX-License-Identifier: GPL-3.0-or-later
// What measuring costs: the same steps with less and more recorded of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/experiment.h"

namespace kvasir::cli {

struct MeasuringRow {
    std::string spec;  ///< the lane beside the fp16 reference
    std::string why;   ///< why it could not be measured; "" when it was
    int depth = 0;
    double step_ms = 0;      ///< median of a step of both lanes without any measuring
    double kl_share = 0;     ///< time that probabilities, KL divergence and sampling add, over the step
    double layer_share = 0;  ///< time that those and the errors of every layer add, over the step
};

/// Both lanes are taken through the same text three times in turns: forward passes alone, with the measures of a token,
/// and with the errors of every layer as well; medians of n_tokens steps after `depth` tokens of prompt.
Result<MeasuringRow> bench_measuring(const std::shared_ptr<const Model>& model, const CacheSpec& spec, int depth,
                                     int n_tokens, int n_threads, KernelPath path, const std::string& text);

}  // namespace kvasir::cli
