// SPDX-License-Identifier: GPL-3.0-or-later
// The repeatability of a scheme: a rounding of one fp16 unit flips codes, so a run with its sums in another order is
// another draw, and a single token's error may be luck. How far draws lie apart says how far one may be trusted.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/session/run_model.h"

namespace kvasir {

class Repeats {
 public:
    /// One more draw of the same experiment.
    void add(const RunModel& run);
    int size() const { return n_; }

    /// Lowest and highest nll of one scored token over the draws.
    std::pair<float, float> nll_range(int lane, int step) const;

    /// {n, nll_mean: {mean, sd, min, max}, kl_mean: {same}, nll_range_per_token: {median, p99, max}}; nats. sd is the
    /// sample standard deviation (divisor n - 1). Without a figure in some draw its key is null; a lane that stopped in
    /// one is {n, why}.
    nlohmann::json lane(int lane) const;

 private:
    struct Lane {
        std::vector<double> nll_means, kl_means;     // per draw
        std::vector<std::pair<float, float>> range;  // per token
        std::string failure;
    };
    int n_ = 0;
    std::vector<Lane> lanes_;
};

}  // namespace kvasir
