// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_measuring.h"

#include <chrono>

#include "app/cli/common.h"
#include "core/measure/statistics.h"
#include "core/session/run.h"

namespace kvasir::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// One way of running the two lanes, with the time of every step in ns.
struct Way {
    std::unique_ptr<Run> run;
    std::vector<double> whole;    ///< Run::next
    std::vector<double> forward;  ///< the forward pass in it
};

Result<Way> begin(const std::shared_ptr<const Model>& model, const Experiment& experiment) {
    Way way;
    auto run = Run::create(model, experiment);
    if (!run) return run.error();
    way.run = std::move(*run);
    if (Status read = way.run->read_prompt({}, interrupted_by_user()); !read) return read.error();
    return way;
}

Status step(Way& way) {
    std::vector<StepRecord> records;
    const Clock::time_point start = Clock::now();
    const Result<bool> more = way.run->next(records, interrupted_by_user());
    if (!more) return more.error();
    way.whole.push_back(double(std::chrono::nanoseconds(Clock::now() - start).count()));
    // A record carries the time of the pass that led to it: the one of the step before.
    way.forward.push_back(records.front().step_ns);
    return {};
}

}  // namespace

Result<MeasuringRow> bench_measuring(const std::shared_ptr<const Model>& model, const CacheSpec& spec, int depth,
                                     int n_tokens, int n_threads, KernelPath path, const std::string& text) {
    Experiment e;
    e.lanes = {{parse_cache_spec("fp16").value(), true}, {spec, true}};
    e.score_text = true;
    e.prompt = text;
    while (int(model->encode_prompt(e.prompt, false).size()) < std::max(depth, 1) + n_tokens + 3)
        e.prompt += text;
    e.prefill = std::max(depth, 1), e.n_tokens = n_tokens + 2;
    e.n_threads = n_threads, e.kernels = path;
    e.noise_floor = false;
    MeasuringRow row;
    row.spec = spec.text, row.depth = depth;
    std::vector<Way> ways;
    for (const bool layers : {false, true}) {
        e.layer_errors = layers;
        auto way = begin(model, e);
        if (!way) return way.error();
        ways.push_back(std::move(*way));
    }
    for (int i = 0; i <= n_tokens; ++i)
        for (Way& way : ways)
            if (way.run->lane_error(1).empty())
                if (Status done = step(way); !done) return done.error();
    for (const Way& way : ways)
        if (const std::string& why = way.run->lane_error(1); !why.empty()) {
            row.why = why;
            return row;
        }
    std::vector<double> passes, kl_extra, layer_extra;
    for (int i = 0; i < n_tokens; ++i) {
        const double pass = ways[0].forward[size_t(i) + 1];
        passes.push_back(pass);
        kl_extra.push_back(ways[0].whole[size_t(i)] - pass);
        layer_extra.push_back(ways[1].whole[size_t(i)] - pass);
    }
    const double pass = quantile(passes, 0.5);
    row.step_ms = pass * 1e-6;
    row.kl_share = quantile(kl_extra, 0.5) / pass;
    row.layer_share = quantile(layer_extra, 0.5) / pass;
    return row;
}

}  // namespace kvasir::cli
