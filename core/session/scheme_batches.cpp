// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/scheme_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/session/run_to_end.h"

namespace kvasir {
namespace {

void take_figures(const RunModel& measured, int lane, const NoiseFloor& floor, SchemeFigures& out) {
    out.why = out.failure = lane_trouble(measured, lane);
    const std::vector<StepRecord>& records = measured.lane(lane);
    if (!out.why.empty() || records.empty()) return;
    LaneFigures figures = lane_figures(measured, lane, measured.summary(lane), floor);
    out.kl = figures.kl, out.dnll = figures.dnll, out.why = out.kl.reason;
    out.summary = std::move(figures.summary);
    const StepRecord& last = records.back();
    out.bytes_per_token = double(last.bytes.total()) / double(last.n_cached);
}

}  // namespace

bool SchemeBatches::any_failed() const {
    return std::any_of(schemes.begin(), schemes.end(), [](const SchemeFigures& f) { return !f.failure.empty(); });
}

Result<SchemeBatches> evaluate_schemes(const std::shared_ptr<const Model>& model, const Experiment& experiment,
                                       const std::vector<CacheSpec>& specs, int n_lanes, const Progress& progress,
                                       const CancelCheck& cancelled) {
    SchemeBatches out;
    for (const CacheSpec& spec : specs)
        out.schemes.emplace_back().spec = spec;
    Experiment e = experiment;
    e.score_text = true, e.layer_errors = false;
    e.reference = 0;
    const size_t step = size_t(std::max(n_lanes - 1, 1)), n_batches = (specs.size() + step - 1) / step;
    for (size_t batch = 0; batch < n_batches && out.complete; ++batch) {
        const size_t begin = batch * step, end = std::min(specs.size(), begin + step);
        e.noise_floor = batch == 0;  // the same text and reference in each of them
        e.lanes = {{parse_cache_spec("fp16").value(), true}};
        for (size_t i = begin; i < end; ++i)
            e.lanes.push_back({specs[i], true});
        auto run = Run::create(model, e);
        if (!run && batch > 0) {
            out.complete = false, out.error = run.error();
            break;
        }
        if (!run) return run.error();
        RunModel measured;
        const auto shown = [&](double share, const char*) {
            if (progress)
                progress((double(batch) + share) / double(n_batches),
                         fmt::format("schemes {} to {} of {}", begin + 1, end, specs.size()).c_str());
        };
        const auto done = run_to_end(**run, *model, measured, shown, cancelled);
        if (!done && done.error().code != ErrorCode::interrupted) {
            if (batch == 0) return done.error();
            out.complete = false, out.error = done.error();
            break;
        }
        out.complete = done && *done;
        out.n_scored = std::max(out.n_scored, (*run)->n_done());
        out.n_text_tokens = (*run)->info().n_text_tokens;
        if (e.noise_floor) out.noise_floor = measured.noise_floor();
        for (size_t i = begin; i < end; ++i)
            take_figures(measured, int(i - begin) + 1, out.noise_floor, out.schemes[i]);
        // Figures over fewer tokens than the others' cannot stand beside them.
        for (size_t i = begin; i < end && !out.complete; ++i)
            if (SchemeFigures& f = out.schemes[i]; f.measured() && f.summary.n_scored < out.n_scored)
                f.why = fmt::format("interrupted after {} of {} tokens", f.summary.n_scored, out.n_scored);
    }
    return out;
}

}  // namespace kvasir
