// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/measure/statistics.h"

namespace kvasir {
namespace {

using nlohmann::json;

std::vector<double> column(const RunModel& measured, int lane, double (*get)(const StepRecord&)) {
    std::vector<double> out;
    for (const StepRecord& r : measured.lane(lane))
        if (r.comparable) out.push_back(get(r));
    return out;
}

/// How a side is rotated before it is coded, in the words of the long form.
std::string rotation_text(const SideSpec& side) {
    std::string text = side.rotation_block == SideSpec::kNoRotation  ? "none"
                       : side.rotation_block == SideSpec::kWholeHead ? "head"
                       : side.rotation_block == SideSpec::kLlamaBlocks
                           ? "llama.cpp"
                           : fmt::format("blocks of {}", side.rotation_block);
    if (side.signs) text += ", random signs";
    return text;
}

std::string score_rule(const CacheSpec& spec) {
    const bool k = spec.flush_k == FlushRule::write, v = spec.flush_v == FlushRule::write;
    if (k && v) return "write, then read";
    if (k || v) return fmt::format("{}: write, then read; the other side attends first", k ? "keys" : "values");
    if (spec.exact()) return "exact";
    return spec.flush_first ? "flush, then attend; prompt exact" : "attend, then flush; prompt exact";
}

/// What stands beside every figure of a lane.
json conditions(const CacheSpec& spec) {
    return {{"residual", {{"k", spec.residual_k}, {"v", spec.residual_v}}},
            {"sink", spec.sink},
            {"rotation", {{"k", rotation_text(spec.k)}, {"v", rotation_text(spec.v)}}},
            {"centred_keys", spec.k.centre},
            {"keys_before_rope", spec.k.pre_rope},
            {"packed", !spec.exact()},
            {"score_rule", score_rule(spec)}};
}

json non_finite_json(const KvCache* cache) {
    const auto found = cache ? cache->non_finite() : std::nullopt;
    if (!found) return nullptr;
    return {{"side", found->side == Side::k ? "k" : "v"},
            {"layer", found->layer},
            {"position", found->position},
            {"kv_head", found->kv_head}};
}

}  // namespace

json ledger_json(const ByteLedger& b) {
    return {{"codes", b.codes},       {"scales", b.scales},   {"zeros", b.zeros},
            {"residual", b.residual}, {"padding", b.padding}, {"total", b.total()}};
}

json figure_json(const Figure& figure) {
    return figure.is_number() ? json(figure.value) : json(nullptr);
}

json condition_json(const Figure& figure) {
    static constexpr const char* kStates[] = {"none",     "measured",     "inside the floor",
                                              "0 % read", "not a number", "failed"};
    return {{"value", figure_json(figure)},
            {"n", figure.n},
            {"n_unread", figure.n_unread},
            {"coverage", figure.coverage ? json(*figure.coverage) : json(nullptr)},
            {"floor", figure.floor > 0 ? json(figure.floor) : json(nullptr)},
            {"state", kStates[size_t(figure.state)]},
            {"why", figure.reason}};
}

namespace {

/// [low, high], or null with the reason beside it.
void put_interval(json& j, const std::string& key, const Interval& interval, const std::function<double(double)>& as) {
    j[key] = interval ? json{as(interval.low), as(interval.high)} : json(nullptr);
    if (!interval) j[key + "_why"] = interval.why;
}

double as_is(double x) {
    return x;
}

/// Everything measured of a lane that has figures.
json lane_figures_json(const RunModel& measured, const Run& run, int lane, const NoiseFloor& floor,
                       const Bootstrap& bootstrap) {
    const LaneFigures f = lane_figures(measured, lane, measured.summary(lane), floor);
    const LaneSummary& s = f.summary;
    std::vector<double> nll;  // of every scored token, as ppl
    for (const StepRecord& r : measured.lane(lane))
        nll.push_back(r.nll);
    const KvCache* cache = run.cache(lane);
    const Coverage coverage = cache ? cache->coverage() : s.coverage;
    json j = conditions(measured.info().experiment.lanes[size_t(lane)].spec);
    j["non_finite"] = non_finite_json(cache);
    j["n_scored"] = s.n_scored, j["n_comparable"] = s.n_comparable, j["n_unread"] = s.n_unread;
    j["nll_mean"] = figure_json(f.nll), j["ppl"] = figure_json(f.ppl);
    j["ppl_of"] = s.n_comparable < s.n_scored ? "the lane's own text: not comparable" : "the reference's text";
    put_interval(j, "ppl_ci95", confidence_interval(nll, bootstrap), [](double x) { return std::exp(x); });
    const auto compared = [&](double value) { return f.kl.is_number() ? json(value) : json(nullptr); };
    j["dnll_mean"] = figure_json(f.dnll), j["kl_mean"] = figure_json(f.kl);
    j["kl_median"] = compared(s.kl_median), j["kl_p99"] = compared(s.kl_p99), j["kl_max"] = compared(s.kl_max);
    j["top1_agreement"] = figure_json(f.top1), j["rms_dp"] = figure_json(f.rms_dp);
    for (const auto& [key, get] : {std::pair<const char*, double (*)(const StepRecord&)>{
                                       "dnll_ci95", [](const StepRecord& r) { return -double(r.delta_logprob); }},
                                   {"kl_ci95", [](const StepRecord& r) { return double(r.kl); }}}) {
        const Interval interval = f.kl.is_number() ? confidence_interval(column(measured, lane, get), bootstrap)
                                                   : Interval{.why = f.kl.reason};
        put_interval(j, key, interval, as_is);
    }
    j["first_flip"] = s.first_flip < 0 ? json(nullptr) : json(s.first_flip);
    j["coverage"] = {{"k", coverage.k()}, {"v", coverage.v()}};
    j["bytes"] = ledger_json(s.bytes);
    j["bits_per_value"] = {{"nominal", measured.info().lanes[size_t(lane)].nominal_bits},
                           {"effective", s.effective_bits}};
    j["tokens_per_second"] = figure_json(f.tokens_per_second);
    j["figures"] = {{"kl_mean", condition_json(f.kl)},
                    {"dnll_mean", condition_json(f.dnll)},
                    {"top1_agreement", condition_json(f.top1)},
                    {"ppl", condition_json(f.ppl)}};
    j["text"] = lane_text(measured, lane);
    return j;
}

}  // namespace

json run_lanes_json(const RunModel& measured, const Run& run, uint64_t seed) {
    const NoiseFloor floor = measured.noise_floor();
    json lanes = json::array();
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const RunInfo::LaneInfo& info = measured.info().lanes[size_t(i)];
        const std::string& failure = measured.failure(i);
        json j = {{"spec", info.requested},
                  {"long_spec", info.active},
                  {"requested", info.requested},
                  {"active", failure.empty() ? json(info.requested) : json(nullptr)},
                  {"why", failure},
                  {"title", info.title},
                  {"error", lane_trouble(measured, i)}};
        if (failure.empty()) {
            j.update(lane_figures_json(measured, run, i, floor, {.seed = seed}));
        } else {
            j["non_finite"] = non_finite_json(run.cache(i));
            j["n_before_it_stopped"] = measured.lane(i).size();
        }
        lanes.push_back(std::move(j));
    }
    return lanes;
}

json noise_floor_json(const NoiseFloor& floor) {
    return {{"kl_mean", floor.kl_mean},
            {"nll_mean", floor.nll_mean},
            {"nll_median", floor.nll_median},
            {"nll_max", floor.nll_max},
            {"n", floor.n},
            {"what", "the reference against itself with its sums in another order"}};
}

std::string kl_text(const Figure& kl) {
    return figure_text(kl, [](double value) { return fmt::format("{:.3g}", value); });
}

std::string noise_floor_line(const NoiseFloor& floor) {
    if (floor.n == 0) return "";
    return fmt::format(
        "noise floor: mean KL {:.2g} nats, mean nll {:.2g}, one token's nll up to {:.2g} (the reference with its "
        "sums in another order, {} tokens); ~: inside it\n",
        floor.kl_mean, floor.nll_mean, floor.nll_max, floor.n);
}

namespace {

std::string table_row(const RunModel& measured, const Run& run, int lane, const NoiseFloor& floor) {
    const RunInfo& info = measured.info();
    const LaneFigures f = lane_figures(measured, lane, measured.summary(lane), floor);
    const LaneSummary& s = f.summary;
    const Coverage coverage = run.cache(lane) ? run.cache(lane)->coverage() : s.coverage;
    const bool reference = lane == info.experiment.reference, own_text = s.n_comparable < s.n_scored;
    const auto ppl = [&](double value) { return fmt::format("{:.3f}{}", value, own_text ? "*" : ""); };
    const auto percent = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
    return fmt::format(
        "{:<26} {:>5.1f} → {:>5.2f} {:>8.2f} {:>7} {:>12} {:>12} {:>12} {:>7} {:>4.0f}/{:<4.0f} {:>6} of {:<4}\n",
        info.lanes[size_t(lane)].requested, info.lanes[size_t(lane)].nominal_bits, s.effective_bits,
        double(s.bytes.total()) / 1048576.0,
        figure_text(f.tokens_per_second, [](double value) { return fmt::format("{:.1f}", value); }),
        figure_text(f.ppl, ppl), reference && f.kl.is_number() ? "–" : kl_text(f.kl), figure_text(f.top1, percent),
        s.first_flip < 0 ? "–" : std::to_string(s.first_flip), 100 * coverage.k(), 100 * coverage.v(), s.n_comparable,
        s.n_scored);
}

}  // namespace

std::string run_table(const RunModel& measured, const Run& run) {
    const RunInfo& info = measured.info();
    const NoiseFloor floor = measured.noise_floor();
    std::string out =
        fmt::format("{:<26} {:>13} {:>8} {:>7} {:>12} {:>12} {:>12} {:>7} {:>10} {:>12}\n", "cache", "bits/value",
                    "MiB", "tok/s", "ppl", "mean KL", "top-1", "flip", "read k/v %", "compared");
    bool own_text = false;
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const RunInfo::LaneInfo& lane = info.lanes[size_t(i)];
        if (const std::string& why = measured.failure(i); why.empty()) {
            out += table_row(measured, run, i, floor);
            own_text = own_text || std::any_of(measured.lane(i).begin(), measured.lane(i).end(),
                                               [](const StepRecord& r) { return !r.comparable; });
        } else if (lane.failed) {
            out += fmt::format("{:<26} does not run: {}\n", lane.requested, why);
        } else {
            out += fmt::format("{:<26} stopped after {} of {}: {}\n", lane.requested, measured.lane(i).size(),
                               info.n_planned, why);
        }
    }
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const LaneSummary s = measured.summary(i);
        if (s.n_unread > 0 && s.n_unread < s.n_comparable && 10 * s.n_unread >= s.n_comparable)
            out += fmt::format(
                "{}: {} of its {} compared tokens came before anything was read from quantized storage, with KL 0\n",
                info.lanes[size_t(i)].requested, s.n_unread, s.n_comparable);
    }
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const auto found = run.cache(i) ? run.cache(i)->non_finite() : std::nullopt;
        if (found)
            out += fmt::format("{}: the first {} that is not finite is in layer {} at position {}\n",
                               info.lanes[size_t(i)].requested, found->side == Side::k ? "key" : "value", found->layer,
                               found->position);
    }
    const bool free = info.experiment.mode == Mode::free_running;
    if (own_text)
        out += "*: perplexity of the lane's own text, which is not the reference's: not comparable with the others\n";
    out += fmt::format("\n{}, {} weights · prompt {} tokens · {} · {} kernels, {}, {} threads\n",
                       info.model_name.empty() ? "model" : info.model_name, info.model_weights, info.prompt_ids.size(),
                       free ? "free-running: errors up to where a lane leaves the reference's text" : "teacher-forced",
                       info.experiment.kernels == KernelPath::fused ? "fused" : "reference", info.simd, info.n_threads);
    out +=
        "bits/value: nominal → effective with the exact residual. tok/s: each lane's own cache work plus an equal "
        "share of the rest.\n";
    return out + noise_floor_line(floor);
}

std::string lane_text(const RunModel& measured, int lane) {
    std::string bytes;
    for (const StepRecord& r : measured.lane(lane))
        bytes += measured.piece_of(r.token_id);
    return valid_utf8(bytes);
}

}  // namespace kvasir
