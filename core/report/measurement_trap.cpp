// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/measurement_trap.h"

#include <fmt/format.h>

#include "core/measure/statistics.h"
#include "core/report/run_table.h"
#include "core/session/run_to_end.h"

namespace kvasir {
namespace {

/// The scheme with everything quantized as it is written; an error where its groups do not allow that.
Result<CacheSpec> written(const CacheSpec& spec) {
    if (!spec.layers.empty())
        return Error{ErrorCode::input, "not one scheme", spec.text, "it has rules for single layers",
                     "Leave them out."};
    CacheSpec other = spec;
    for (const Side side : {Side::k, Side::v}) {
        if (spec.side(side).plain()) continue;
        (side == Side::k ? other.flush_k : other.flush_v) = FlushRule::write;
        (side == Side::k ? other.residual_k : other.residual_v) = 0;
    }
    return parse_cache_spec(long_spec(other));
}

struct Protocol {
    const char* name;
    bool write, from_first_token;
};
constexpr Protocol kProtocols[] = {
    {"as the scheme reads its prompt", false, false},
    {"write, then read", true, false},
    {"token by token from the first", false, true},
};

/// The scored tokens that all protocols share.
std::vector<StepRecord> common(const RunModel& run, int lane, int first_position) {
    std::vector<StepRecord> records;
    for (const StepRecord& r : run.lane(lane))
        if (r.position >= first_position) records.push_back(r);
    return records;
}

TrapRow measured_row(const RunModel& run, const Run& source, int lane, int first_position) {
    TrapRow row;
    std::vector<double> nll, kl, delta;
    for (const StepRecord& r : common(run, lane, first_position)) {
        nll.push_back(r.nll);
        kl.push_back(r.kl);
        delta.push_back(-double(r.delta_logprob));
    }
    row.n_scored = int(nll.size());
    row.nll_mean = mean(nll), row.kl_mean = mean(kl), row.delta_nll = mean(delta);
    const Coverage coverage = source.cache(lane) ? source.cache(lane)->coverage() : Coverage{};
    row.coverage_k = coverage.k(), row.coverage_v = coverage.v();
    row.kl_figure = lane_figures(run, lane).kl;
    return row;
}

}  // namespace

Result<Trap> measurement_trap(const std::shared_ptr<const Model>& model, const Experiment& experiment,
                              const Progress& progress, const CancelCheck& cancelled) {
    std::vector<TrapRow> rows;
    std::vector<int> ids;
    const int first_position = experiment.prefill;
    for (const Protocol& protocol : kProtocols) {
        Experiment e = experiment;
        e.layer_errors = e.noise_floor = false;
        if (protocol.from_first_token) {
            e.n_tokens = int(ids.size()) - 1;
            e.prefill = 1;
        }
        std::vector<TrapRow> refused;
        std::vector<int> kept;
        e.lanes.clear();
        for (size_t i = 0; i < experiment.lanes.size(); ++i) {
            LaneSetup lane = experiment.lanes[i];
            if (protocol.write && int(i) != experiment.reference) {
                auto spec = written(lane.spec);
                if (!spec) {
                    TrapRow& row = refused.emplace_back();
                    row.spec = lane.spec.text, row.protocol = protocol.name, row.why = spec.error().why;
                    continue;
                }
                lane.spec = std::move(*spec);
            }
            if (int(i) == experiment.reference) e.reference = int(e.lanes.size());
            kept.push_back(int(i));
            e.lanes.push_back(std::move(lane));
        }
        auto run = Run::create(model, e);
        if (!run) return run.error();
        RunModel measured;
        const auto done = run_to_end(**run, *model, measured, progress, cancelled);
        if (!done) return done.error();
        if (!*done) return Trap{std::move(rows), false};
        if (ids.empty()) ids = measured.text_ids();
        for (size_t lane = 0; lane < e.lanes.size(); ++lane) {
            if (int(lane) == e.reference) continue;
            TrapRow row = measured_row(measured, **run, int(lane), first_position);
            row.spec = experiment.lanes[size_t(kept[lane])].spec.text;
            row.protocol = protocol.name;
            row.why = lane_trouble(measured, int(lane));
            rows.push_back(std::move(row));
        }
        rows.insert(rows.end(), refused.begin(), refused.end());
    }
    std::vector<TrapRow> blind;
    const auto exact = blind_nll(model, experiment.lanes[size_t(experiment.reference)].spec, ids, first_position,
                                 experiment.n_threads, cancelled);
    const auto stopped = [](const auto& blind_forward) {
        return !blind_forward && blind_forward.error().code == ErrorCode::interrupted;
    };
    if (stopped(exact)) return Trap{std::move(rows), false};
    if (!exact) return exact.error();
    bool complete = true;
    for (size_t i = 0; i < experiment.lanes.size(); ++i) {
        if (int(i) == experiment.reference) continue;
        const auto nll =
            blind_nll(model, experiment.lanes[i].spec, ids, first_position, experiment.n_threads, cancelled);
        if (stopped(nll)) {
            complete = false;
            break;
        }
        TrapRow row;
        row.spec = experiment.lanes[i].spec.text, row.protocol = "one blind forward";
        if (nll) {
            row.n_scored = int(nll->size());
            row.nll_mean = mean(*nll), row.delta_nll = mean(*nll) - mean(*exact);
        } else {
            row.why = nll.error().why;
        }
        blind.push_back(std::move(row));
    }
    rows.insert(rows.begin(), blind.begin(), blind.end());
    return Trap{std::move(rows), complete};
}

namespace {

/// The mean KL over the shared tokens, under the condition of the whole lane.
Figure kl_figure(const TrapRow& row, const NoiseFloor& floor) {
    return make_figure(*row.kl_mean, {.n = row.n_scored,
                                      .n_unread = std::min(row.kl_figure.n_unread, row.n_scored),
                                      .coverage = row.kl_figure.coverage,
                                      .floor = floor.kl_mean});
}

}  // namespace

nlohmann::json trap_json(const std::vector<TrapRow>& rows) {
    nlohmann::json out = nlohmann::json::array();
    for (const TrapRow& r : rows) {
        nlohmann::json j{{"spec", r.spec}, {"protocol", r.protocol}, {"why", r.why}};
        if (r.why.empty())
            j.update({{"n_scored", r.n_scored},
                      {"nll_mean", r.nll_mean},
                      {"delta_nll", r.delta_nll},
                      {"kl_mean", r.kl_mean && r.kl_figure.is_number() ? nlohmann::json(*r.kl_mean) : nullptr},
                      {"coverage", {{"k", r.coverage_k}, {"v", r.coverage_v}}}});
        out.push_back(std::move(j));
    }
    return out;
}

std::string trap_table(const std::vector<TrapRow>& rows, const std::string& reference, const NoiseFloor& floor) {
    std::string out = fmt::format("{:<28} {:<32} {:>9} {:>10} {:>10} {:>16}\n", "cache", "measured by", "mean nll",
                                  "- " + reference, "mean KL", "coverage K / V");
    for (const TrapRow& r : rows)
        out += r.why.empty()
                   ? fmt::format("{:<28} {:<32} {:>9.5f} {:>+10.5f} {:>10} {:>6.1f} / {:>5.1f} %\n", r.spec, r.protocol,
                                 r.nll_mean, r.delta_nll, r.kl_mean ? kl_text(kl_figure(r, floor)) : "–",
                                 100 * r.coverage_k, 100 * r.coverage_v)
                   : fmt::format("{:<28} {:<32} not possible: {}\n", r.spec, r.protocol, r.why);
    return out + "A number with 0 % coverage says nothing about the cache.\n";
}

}  // namespace kvasir
