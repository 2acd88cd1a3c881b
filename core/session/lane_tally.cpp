// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/lane_tally.h"

#include <cmath>

namespace kvasir {

void LaneTally::catchUp(const std::shared_ptr<const RunModel>& run, int lane) {
    if (run != run_ || lane != lane_) {
        *this = LaneTally();
        run_ = run, lane_ = lane;
    }
    const auto& records = run->lane(lane);
    while (size_t(newest_.n_scored) < records.size())
        add(records[size_t(newest_.n_scored)]);
    for (; n_floors_ < run->floors().size(); ++n_floors_)
        floor_kl_ += double(run->floors()[n_floors_].kl);
}

void LaneTally::add(const StepRecord& r) {
    ++newest_.n_scored;
    nll_ += r.nll;
    if (r.time.total() > 0) time_ += r.time.total(), ++timed_;
    newest_.bytes = r.bytes, newest_.coverage = r.coverage;
    n_cached_ = r.n_cached;
    if (!r.comparable) return;
    ++newest_.n_comparable;
    newest_.n_unread += run_->nothing_read(lane_, r);
    newest_.compared_coverage = r.coverage;
    kl_ += r.kl;
    dnll_ -= r.delta_logprob;
    const double dp = double(r.probability) - r.reference_probability;
    dp2_ += dp * dp;
    agree_ += r.top1_agrees;
    if (!r.top1_agrees && newest_.first_flip < 0) newest_.first_flip = r.step;
}

LaneSummary LaneTally::summary() const {
    LaneSummary s = newest_;
    if (s.n_scored == 0) return s;
    s.nll_mean = nll_ / s.n_scored;
    s.ppl = std::exp(s.nll_mean);
    if (s.n_comparable > 0) {
        const double n = s.n_comparable;
        s.dnll_mean = lane_ == run_->info().experiment.reference ? 0 : dnll_ / n;
        s.kl_mean = kl_ / n;
        s.top1_agreement = agree_ / n;
        s.rms_dp = std::sqrt(dp2_ / n);
    }
    if (timed_ > 0) s.tokens_per_second = 1e9 * timed_ / time_;
    const double values = 2.0 * n_cached_ * run_->n_layers() * run_->n_kv_heads() * run_->head_dim();
    if (values > 0) s.effective_bits = 8.0 * double(s.bytes.total()) / values;
    return s;
}

}  // namespace kvasir
