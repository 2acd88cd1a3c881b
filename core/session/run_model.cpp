// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_model.h"

#include <algorithm>
#include <cmath>

#include "core/measure/statistics.h"

namespace kvasir {

void RunModel::begin(std::shared_ptr<const RunInfo> info, int n_layers, int n_kv_heads, int head_dim) {
    *this = RunModel();
    lanes_.resize(info->lanes.size());
    for (const RunInfo::LaneInfo& lane : info->lanes)
        failures_.push_back(!lane.failed ? "" : lane.why.empty() ? "it does not run" : lane.why);
    info_ = std::move(info);
    n_layers_ = n_layers, n_kv_heads_ = n_kv_heads, head_dim_ = head_dim;
}

void RunModel::append(std::vector<StepRecord> records) {
    for (StepRecord& r : records)
        if (info_ && r.run == info_->serial && size_t(r.lane) < lanes_.size())
            lanes_[size_t(r.lane)].push_back(std::move(r));
}

void RunModel::append(const std::vector<FloorRecord>& floors) {
    for (const FloorRecord& f : floors)
        if (info_ && f.run == info_->serial) floors_.push_back(f);
}

void RunModel::append(const std::vector<LaneStop>& stops) {
    for (const LaneStop& stop : stops)
        if (info_ && stop.run == info_->serial && size_t(stop.lane) < failures_.size())
            failures_[size_t(stop.lane)] = stop.reason;
}

const std::string& RunModel::failure(int lane) const {
    return failures_[size_t(lane)];
}

const FloorRecord* RunModel::floor_at(int step) const {
    const auto at =
        std::lower_bound(floors_.begin(), floors_.end(), step, [](const auto& f, int s) { return f.step < s; });
    return at != floors_.end() && at->step == step ? &*at : nullptr;
}

bool RunModel::nothing_read(int lane, const StepRecord& record) const {
    const CacheSpec& spec = info_->experiment.lanes[size_t(lane)].spec;
    const Coverage& reads = record.coverage;
    if (spec.exact() || reads.k_quantized + reads.v_quantized > 0) return false;
    if (reads.k_total + reads.v_total > 0) return true;
    // Nothing was counted: step 0 comes from the prompt pass, where a scheme that quantizes as it writes reads its
    // codes already; a later step is of a session from before reads were recorded.
    return record.step == 0 && !spec.quantizes_as_it_writes(n_layers_);
}

LaneSummary RunModel::summary(int index) const {
    const std::vector<StepRecord>& records = lane(index);
    LaneSummary s;
    if (records.empty() || !failure(index).empty()) return s;
    s.n_scored = int(records.size());
    const bool is_reference = index == info_->experiment.reference;
    std::vector<double> nll, kl;
    double dnll = 0, dp2 = 0, time = 0;
    int agree = 0, timed = 0;
    for (const StepRecord& r : records) {
        nll.push_back(r.nll);
        if (r.time.total() > 0) time += r.time.total(), ++timed;
        if (!r.comparable) continue;
        ++s.n_comparable;
        s.n_unread += nothing_read(index, r);
        s.compared_coverage = r.coverage;
        kl.push_back(r.kl);
        dnll -= r.delta_logprob;
        const double dp = double(r.probability) - r.reference_probability;
        dp2 += dp * dp;
        agree += r.top1_agrees;
        if (!r.top1_agrees && s.first_flip < 0) s.first_flip = r.step;
    }
    s.nll_mean = mean(nll);
    s.ppl = std::exp(s.nll_mean);
    if (s.n_comparable > 0) {
        const double n = s.n_comparable;
        s.dnll_mean = is_reference ? 0 : dnll / n;
        s.kl_mean = mean(kl);
        s.kl_median = quantile(kl, 0.5);
        s.kl_p99 = quantile(kl, 0.99);
        s.kl_max = quantile(kl, 1);  // NaN when one of them is
        s.top1_agreement = agree / n;
        s.rms_dp = std::sqrt(dp2 / n);
    }
    if (s.first_flip >= 0) {
        const std::vector<StepRecord>& reference = lane(info_->experiment.reference);
        const auto at =
            std::find_if(reference.begin(), reference.end(), [&](const auto& r) { return r.step == s.first_flip; });
        if (at != reference.end()) s.first_flip_margin = at->margin;
    }
    if (timed > 0) s.tokens_per_second = 1e9 * timed / time;
    s.bytes = records.back().bytes, s.coverage = records.back().coverage;
    const double values = 2.0 * records.back().n_cached * n_layers_ * n_kv_heads_ * head_dim_;
    if (values > 0) s.effective_bits = 8.0 * double(s.bytes.total()) / values;
    return s;
}

NoiseFloor RunModel::noise_floor() const {
    NoiseFloor floor;
    std::vector<double> kl, delta;
    for (const FloorRecord& f : floors_)
        kl.push_back(f.kl), delta.push_back(f.delta_logprob);
    floor.n = int(kl.size());
    floor.kl_mean = mean(kl);
    floor.nll_mean = std::abs(mean(delta));
    for (double& d : delta)
        d = std::abs(d);
    floor.nll_median = quantile(delta, 0.5);
    floor.nll_max = quantile(delta, 1);
    return floor;
}

double RunModel::steps_per_second() const {
    double ns = 0;
    int n = 0;
    for (const StepRecord& r : lane(info_->experiment.reference))
        if (r.step_ns > 0) ns += r.step_ns, ++n;
    return n > 0 ? 1e9 * n / ns : 0;
}

std::vector<int> RunModel::text_ids() const {
    std::vector<int> ids = info_->prompt_ids;
    for (const StepRecord& r : lane(info_->experiment.reference))
        ids.push_back(r.token_id);
    return ids;
}

std::string RunModel::piece_of(int id) const {
    const auto at =
        std::lower_bound(pieces_.begin(), pieces_.end(), id, [](const auto& p, int i) { return p.first < i; });
    return at != pieces_.end() && at->first == id ? at->second : std::string();
}

void RunModel::set_piece(int id, std::string bytes) {
    const auto at =
        std::lower_bound(pieces_.begin(), pieces_.end(), id, [](const auto& p, int i) { return p.first < i; });
    if (at == pieces_.end() || at->first != id) pieces_.insert(at, {id, std::move(bytes)});
}

void RunModel::remember_pieces(const Tokenizer& tokenizer) {
    const auto take = [&](int id) {
        if (id >= 0 && id < tokenizer.size()) set_piece(id, std::string(tokenizer.piece(id)));
    };
    if (info_)
        for (const int id : info_->prompt_ids)
            take(id);
    for (const auto& records : lanes_)
        for (const StepRecord& r : records) {
            take(r.token_id);
            for (const TopToken& t : r.top)
                if (t.id >= 0) take(t.id);
        }
}

}  // namespace kvasir
