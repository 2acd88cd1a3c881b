// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a lane that need no sorting, kept while its records come: a window that shows them many times a second
// pays for the new records only.
#pragma once

#include "core/session/run_model.h"

namespace kvasir {

class LaneTally {
 public:
    /// Takes what came since the last call; from the start when `run` or `lane` is another one.
    void catchUp(const std::shared_ptr<const RunModel>& run, int lane);
    /// As RunModel::summary() of a lane that did not fail, but for the median, the 99th percentile and the largest KL,
    /// and the reference's margin at the first flip.
    LaneSummary summary() const;
    double floor_kl_mean() const { return n_floors_ > 0 ? floor_kl_ / double(n_floors_) : 0; }  ///< of NoiseFloor

 private:
    void add(const StepRecord& record);

    std::shared_ptr<const RunModel> run_;
    int lane_ = -1;
    LaneSummary newest_;  // counts, first flip, bytes and coverage as they are
    double nll_ = 0, kl_ = 0, dnll_ = 0, dp2_ = 0, time_ = 0, floor_kl_ = 0;
    int agree_ = 0, timed_ = 0, n_cached_ = 0;
    size_t n_floors_ = 0;
};

}  // namespace kvasir
