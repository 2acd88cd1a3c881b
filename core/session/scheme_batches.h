// SPDX-License-Identifier: GPL-3.0-or-later
// Many schemes over one text: in lock-step, a few lanes at a time, each against fp16.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/experiment.h"
#include "core/session/lane_figures.h"

namespace kvasir {

struct SchemeFigures {
    CacheSpec spec;
    std::string why;      ///< why there are no figures; "" when all is well
    std::string failure;  ///< the same for a scheme that failed, stopped or gave no numbers; "" for one not read
    LaneSummary summary;
    Figure kl, dnll;             ///< against fp16
    double bytes_per_token = 0;  ///< cache bytes / cached tokens at the end
    /// Only such a scheme stands in a table of figures or on a front: it ran to the end, and its cache was read.
    bool measured() const { return why.empty() && kl.is_number(); }
};

struct SchemeBatches {
    std::vector<SchemeFigures> schemes;  ///< in the order asked for
    bool complete = true;                ///< false: cancelled or `error`; schemes not reached have no figures
    std::optional<Error> error;          ///< what ended it early, after the first batch
    /// Of the schemes that ran, some failed, stopped or gave no numbers.
    bool any_failed() const;
    int n_scored = 0, n_text_tokens = 0;
    NoiseFloor noise_floor;  ///< of fp16, over the tokens of the first batch
};

/// Teacher-forced over e.prompt (score_text; lanes and reference of `e` are not asked). A lane's numbers do not depend
/// on its batch. `n_lanes` is the size of a batch with its fp16 lane, at least 2.
Result<SchemeBatches> evaluate_schemes(const std::shared_ptr<const Model>& model, const Experiment& e,
                                       const std::vector<CacheSpec>& specs, int n_lanes = 8,
                                       const Progress& progress = {}, const CancelCheck& cancelled = {});

}  // namespace kvasir
