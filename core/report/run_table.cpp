// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/run_table.h"

#include <fmt/format.h>

#include <cmath>

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

/// How a side is turned before it is coded, in the words of the long form.
std::string rotation_text(const SideSpec& side) {
    std::string text = side.tile == SideSpec::kNoTile      ? "none"
                       : side.tile == SideSpec::kWholeHead ? "head"
                       : side.tile == SideSpec::kLlamaTile ? "llama.cpp"
                                                           : fmt::format("blocks of {}", side.tile);
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

json run_lanes_json(const RunModel& measured, const Run& run, uint64_t seed) {
    const Bootstrap bootstrap{.seed = seed};
    json lanes = json::array();
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const RunInfo::LaneInfo& info = measured.info().lanes[size_t(i)];
        json j = {{"spec", info.requested},
                  {"long_spec", info.active},
                  {"requested", info.requested},
                  {"active", info.failed ? json(nullptr) : json(info.requested)},
                  {"why", info.why},
                  {"title", info.title},
                  {"error", run.lane_error(i)}};
        if (!info.failed) {
            const LaneSummary s = measured.summary(i);
            std::vector<double> nll;  // of every scored token, as ppl
            for (const StepRecord& r : measured.lane(i))
                nll.push_back(r.nll);
            const auto dnll = column(measured, i, [](const StepRecord& r) { return -double(r.delta_logprob); });
            const auto kl = column(measured, i, [](const StepRecord& r) { return double(r.kl); });
            const auto nll_ci = bootstrap_ci95(nll, bootstrap), dnll_ci = bootstrap_ci95(dnll, bootstrap),
                       kl_ci = bootstrap_ci95(kl, bootstrap);
            const KvCache* cache = run.cache(i);
            const Coverage coverage = cache ? cache->coverage() : Coverage{};
            j.update(conditions(measured.info().experiment.lanes[size_t(i)].spec));
            j["non_finite"] = non_finite_json(cache);
            j["n_scored"] = s.n_scored, j["n_comparable"] = s.n_comparable;
            j["nll_mean"] = s.nll_mean, j["ppl"] = s.ppl,
            j["ppl_ci95"] = {std::exp(nll_ci.first), std::exp(nll_ci.second)};
            j["dnll_mean"] = s.dnll_mean, j["dnll_ci95"] = {dnll_ci.first, dnll_ci.second};
            j["kl_ci95"] = {kl_ci.first, kl_ci.second};
            j["kl_mean"] = s.kl_mean, j["kl_median"] = s.kl_median, j["kl_p99"] = s.kl_p99, j["kl_max"] = s.kl_max;
            j["top1_agreement"] = s.top1_agreement, j["rms_dp"] = s.rms_dp;
            j["first_flip"] = s.first_flip < 0 ? json(nullptr) : json(s.first_flip);
            j["coverage"] = {{"k", coverage.k()}, {"v", coverage.v()}};
            j["bytes"] = ledger_json(s.bytes);
            j["bits_per_value"] = {{"nominal", info.nominal_bits}, {"effective", s.effective_bits}};
            j["tokens_per_second"] = s.tokens_per_second;
            j["text"] = lane_text(measured, i);
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

std::string kl_text(double kl_mean, const NoiseFloor& floor) {
    const bool inside = floor.n > 0 && kl_mean < floor.kl_mean;
    return fmt::format("{}{:.3g}", inside ? "~" : "", kl_mean);
}

std::string noise_floor_line(const NoiseFloor& floor) {
    if (floor.n == 0) return "";
    return fmt::format(
        "noise floor: mean KL {:.2g} nats, mean nll {:.2g}, one token's nll up to {:.2g} (the reference with its "
        "sums in another order, {} tokens); ~: inside it\n",
        floor.kl_mean, floor.nll_mean, floor.nll_max, floor.n);
}

std::string run_table(const RunModel& measured, const Run& run) {
    const RunInfo& info = measured.info();
    const NoiseFloor floor = measured.noise_floor();
    std::string out =
        fmt::format("{:<26} {:>13} {:>8} {:>7} {:>9} {:>9} {:>8} {:>7} {:>10} {:>12}\n", "cache", "bits/value", "MiB",
                    "tok/s", "ppl", "mean KL", "top-1", "flip", "read k/v %", "scored");
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const RunInfo::LaneInfo& lane = info.lanes[size_t(i)];
        if (lane.failed) {
            out += fmt::format("{:<26} does not run: {}\n", lane.requested, lane.why);
            continue;
        }
        const LaneSummary s = measured.summary(i);
        const Coverage coverage = run.cache(i) ? run.cache(i)->coverage() : Coverage{};
        out += fmt::format(
            "{:<26} {:>5.1f} → {:>5.2f} {:>8.2f} {:>7.1f} {:>9.3f} {:>9} {:>7.1f}% {:>7} {:>4.0f}/{:<4.0f} {:>6} of "
            "{:<4}\n",
            lane.requested, lane.nominal_bits, s.effective_bits, double(s.bytes.total()) / 1048576.0,
            s.tokens_per_second, s.ppl, i == info.experiment.reference ? "–" : kl_text(s.kl_mean, floor),
            100 * s.top1_agreement, s.first_flip < 0 ? "–" : std::to_string(s.first_flip), 100 * coverage.k(),
            100 * coverage.v(), s.n_comparable, s.n_scored);
    }
    for (int i = 0; i < measured.n_lanes(); ++i) {
        const auto found = run.cache(i) ? run.cache(i)->non_finite() : std::nullopt;
        if (found)
            out += fmt::format("{}: the first {} that is not finite is in layer {} at position {}\n",
                               info.lanes[size_t(i)].requested, found->side == Side::k ? "key" : "value", found->layer,
                               found->position);
    }
    const bool free = info.experiment.mode == Mode::free_running;
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
