// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/laws.h"

#include <algorithm>
#include <cmath>

#include "core/measure/statistics.h"
#include "core/session/prompt_library.h"
#include "core/session/run_to_end.h"

namespace kvasir {
namespace {

struct Trial {
    RunModel measured;
    std::vector<uint64_t> n_quantized;  ///< per lane: quantized K and V tokens of layer 0 at the end
};

/// Scores tokens [prefill, prefill + n) of the built-in text through the given caches, fp16 being the reference.
Result<Trial> trial(const std::shared_ptr<const Model>& model, std::vector<std::string> specs, int prefill, int n,
                    int threads, KernelPath path = KernelPath::fused, int chunk = 128) {
    Experiment e;
    specs.insert(specs.begin(), "fp16");
    for (const std::string& text : specs) {
        auto spec = parse_cache_spec(text);
        if (!spec) return spec.error();
        e.lanes.push_back({std::move(*spec), true});
    }
    e.prompt = std::string(lighthouse_text());
    e.score_text = true;
    e.prefill = prefill, e.n_tokens = n, e.n_threads = threads, e.kernels = path, e.prefill_chunk = chunk,
    e.layer_errors = false;
    auto run = Run::create(model, e);
    if (!run) return run.error();
    Trial t;
    if (const auto done = run_to_end(**run, *model, t.measured); !done) return done.error();
    for (size_t i = 0; i < e.lanes.size(); ++i) {
        const KvCache* cache = (*run)->cache(int(i));
        t.n_quantized.push_back(cache ? uint64_t(cache->n_quantized(0, Side::k) + cache->n_quantized(0, Side::v)) : 0);
    }
    return t;
}

double largest_nll_difference(const RunModel& a, int lane_a, const RunModel& b, int lane_b) {
    double worst = a.lane(lane_a).size() == b.lane(lane_b).size() ? 0 : INFINITY;
    for (size_t i = 0; i < std::min(a.lane(lane_a).size(), b.lane(lane_b).size()); ++i)
        worst = std::max(worst, std::abs(double(a.lane(lane_a)[i].nll) - b.lane(lane_b)[i].nll));
    return worst;
}

}  // namespace

Result<std::vector<Law>> check_laws(std::shared_ptr<const Model> model, int n_threads, const Progress& progress) {
    std::vector<Law> laws;
    const auto at_most = [&](std::string name, double figure, double bound, std::string says) {
        laws.push_back({std::move(name), std::move(says), figure, bound, figure <= bound});
    };
    const auto step = [&](double share, const char* what) {
        if (progress) progress(share, what);
    };
    constexpr int kPrefill = 128, kTokens = 48;
    const std::vector<std::string> schemes{"quanto:4", "quanto:2", "kivi:4", "kivi:2", "hadamard:2"};

    step(0, "schemes against fp16");
    const auto fused = trial(model, schemes, kPrefill, kTokens, n_threads);
    if (!fused) return fused.error();

    step(0.2, "blind forward");
    std::vector<int> ids = fused->measured.info().prompt_ids;
    for (const StepRecord& r : fused->measured.lane(0))
        ids.push_back(r.token_id);
    std::vector<std::vector<double>> blind;
    for (const char* text : {"fp16", "quanto:2", "kivi:2", "hadamard:2"}) {
        auto nll = blind_nll(model, parse_cache_spec(text).value(), ids, kPrefill, n_threads);
        if (!nll) return nll.error();
        blind.push_back(std::move(*nll));
    }
    double blind_difference = 0;
    for (size_t s = 1; s < blind.size(); ++s)
        for (size_t i = 0; i < blind[s].size(); ++i)
            blind_difference = std::max(blind_difference, std::abs(blind[s][i] - blind[0][i]));
    at_most("blind is blind", blind_difference, 0,
            "one forward pass gives every scheme fp16's numbers: it never reads the cache");

    step(0.4, "residual over everything");
    const auto covered = trial(model, {"kivi:2,residual=512"}, kPrefill, kTokens, n_threads);
    if (!covered) return covered.error();
    at_most("residual covers all", largest_nll_difference(covered->measured, 1, covered->measured, 0), 0,
            "kivi:2 with a residual longer than the text is fp16 to the bit");

    step(0.55, "threads and chunks");
    const auto other = trial(model, schemes, kPrefill, kTokens, n_threads == 1 ? 3 : 1, KernelPath::fused, 7);
    if (!other) return other.error();
    double moved = 0;
    for (int i = 0; i < fused->measured.n_lanes(); ++i)
        moved = std::max(moved, largest_nll_difference(fused->measured, i, other->measured, i));
    at_most("one result", moved, 0, "the same bits with other thread counts and prompt chunks");

    step(0.7, "reference kernels");
    const auto plain = trial(model, schemes, kPrefill, kTokens, n_threads, KernelPath::reference);
    if (!plain) return plain.error();
    for (size_t s = 0; s < schemes.size(); ++s) {
        const LaneSummary a = fused->measured.summary(int(s) + 1), b = plain->measured.summary(int(s) + 1);
        // Token by token a rounding of one unit flips codes, so the means agree no better than two draws of the scheme
        // do.
        at_most("packed = simulated, " + schemes[s], std::abs(a.kl_mean / b.kl_mean - 1), 0.5,
                "fused kernels and dequantized values give one mean KL within the scheme's own repeatability");
    }

    const auto kl = [&](size_t scheme) { return fused->measured.summary(int(scheme) + 1).kl_mean; };
    at_most("more bits, less error", std::max(kl(0) / kl(1), kl(2) / kl(3)), 1,
            "mean KL of 4 bits over that of 2 bits, quanto and kivi");
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 1; i < fused->n_quantized.size(); ++i)
        fewest = std::min(fewest, fused->n_quantized[i]);
    at_most("the cache is read", fewest > 0 ? 0 : 1, 0, "every quantized lane holds quantized tokens");
    return laws;
}

}  // namespace kvasir
