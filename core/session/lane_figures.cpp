// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/lane_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kvasir {
namespace {

bool switched_off(const RunModel& run, int lane) {
    return !run.info().experiment.lanes[size_t(lane)].enabled;
}

std::optional<double> share(const CacheSpec& spec, const Coverage& reads) {
    const uint64_t total = reads.k_total + reads.v_total;
    if (spec.exact() || total == 0) return std::nullopt;
    return double(reads.k_quantized + reads.v_quantized) / double(total);
}

}  // namespace

LaneFigures lane_figures(const RunModel& run, int lane) {
    return lane_figures(run, lane, run.summary(lane), run.noise_floor());
}

LaneFigures lane_figures(const RunModel& run, int lane, LaneSummary s, const NoiseFloor& floor) {
    const CacheSpec& spec = run.info().experiment.lanes[size_t(lane)].spec;
    const bool reference = lane == run.info().experiment.reference;
    FigureCondition all{.n = s.n_scored, .coverage = share(spec, s.coverage), .failure = run.failure(lane)};
    FigureCondition compared{.n = s.n_comparable,
                             .n_unread = s.n_unread,
                             .coverage = share(spec, s.compared_coverage),
                             .failure = all.failure};
    LaneFigures f;
    f.nll = make_figure(s.nll_mean, all);
    f.ppl = make_figure(s.ppl, all);
    f.top1 = make_figure(s.top1_agreement, compared);
    f.rms_dp = make_figure(s.rms_dp, compared);
    if (std::isnan(s.kl_mean)) f.top1 = make_figure(s.kl_mean, compared);  // an agreement with what is no number
    FigureCondition timed = all;
    if (!(s.tokens_per_second > 0)) timed.n = 0;
    f.tokens_per_second = make_figure(s.tokens_per_second, timed);
    compared.floor = reference ? 0 : floor.kl_mean;
    f.kl = make_figure(s.kl_mean, compared);
    compared.floor = reference ? 0 : floor.nll_mean;
    f.dnll = make_figure(s.dnll_mean, compared);
    f.summary = std::move(s);
    return f;
}

Figure token_kl(const RunModel& run, int lane, const StepRecord& record) {
    const CacheSpec& spec = run.info().experiment.lanes[size_t(lane)].spec;
    const FloorRecord* floor = lane == run.info().experiment.reference ? nullptr : run.floor_at(record.step);
    return make_figure(double(record.kl), {.n = int(record.comparable),
                                           .n_unread = int(run.nothing_read(lane, record)),
                                           .coverage = share(spec, record.coverage),
                                           .floor = floor ? double(floor->kl) : 0,
                                           .failure = run.failure(lane)});
}

std::string lane_trouble(const RunModel& run, int lane) {
    if (switched_off(run, lane)) return "";
    if (const std::string& why = run.failure(lane); !why.empty()) return why;
    const auto& records = run.lane(lane);
    const bool spoilt = std::any_of(records.begin(), records.end(), [](const StepRecord& r) {
        return std::isnan(r.nll) || (r.comparable && std::isnan(r.kl));
    });
    return spoilt ? "its logits, or the reference's, are not numbers" : "";
}

bool all_lanes_measured(const RunModel& run) {
    for (int i = 0; i < run.n_lanes(); ++i)
        if (!lane_trouble(run, i).empty()) return false;
    return true;
}

std::string tokens_by_lane(const RunModel& run) {
    std::string text;
    int first = -1;
    bool alike = true;
    for (int i = 0; i < run.n_lanes(); ++i) {
        if (!run.failure(i).empty()) continue;
        const auto& records = run.lane(i);
        const auto compared =
            int(std::count_if(records.begin(), records.end(), [](const StepRecord& r) { return r.comparable; }));
        alike = alike && compared == int(records.size()) && (first < 0 || compared == first);
        if (first < 0) first = compared;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", run.info().lanes[size_t(i)].requested, compared);
        if (compared != int(records.size())) text += fmt::format(" of {}", records.size());
    }
    return alike ? fmt::format("{} tokens compared", std::max(first, 0)) : "tokens compared: " + text;
}

}  // namespace kvasir
