// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/cache/cache_bytes.h"
#include "core/cache/feed.h"
#include "core/measure/statistics.h"
#include "core/report/requantization.h"
#include "core/report/scheme_walk.h"
#include "core/session/prompt_library.h"
#include "core/session/run_to_end.h"

namespace kvasir {
namespace {

struct Trial {
    RunModel measured;
    std::vector<uint64_t> n_quantized;  ///< per lane: quantized K and V tokens of layer 0 at the end
};

/// What a trial runs; the reference is the first lane.
struct TrialSetup {
    std::vector<std::string> specs;
    int prefill = 128, n_tokens = 48, n_threads = 0, chunk = 128, sum_order = 0;
    KernelPath path = KernelPath::fused;
    bool noise_floor = false;
};

/// Scores tokens [prefill, prefill + n_tokens) of the built-in text through the given caches.
Result<Trial> trial(const std::shared_ptr<const Model>& model, const TrialSetup& setup, const CancelCheck& cancelled) {
    Experiment e;
    for (const std::string& text : setup.specs) {
        auto spec = parse_cache_spec(text);
        if (!spec) return spec.error();
        e.lanes.push_back({std::move(*spec), true});
    }
    e.prompt = std::string(lighthouse_text());
    e.score_text = true;
    e.prefill = setup.prefill, e.n_tokens = setup.n_tokens, e.n_threads = setup.n_threads, e.kernels = setup.path;
    e.prefill_chunk = setup.chunk, e.sum_order = setup.sum_order, e.noise_floor = setup.noise_floor,
    e.layer_errors = false;
    auto run = Run::create(model, e);
    if (!run) return run.error();
    Trial t;
    const auto done = run_to_end(**run, *model, t.measured, {}, cancelled);
    if (!done) return done.error();
    if (!*done) return Error{ErrorCode::interrupted, "stopped", "", "it was interrupted", "Start again."};
    for (size_t i = 0; i < e.lanes.size(); ++i) {
        const KvCache* cache = (*run)->cache(int(i));
        if (!cache)
            return Error{ErrorCode::input, "cannot check the laws", setup.specs[i], (*run)->lane_error(int(i)),
                         "Check the laws with the default model."};
        t.n_quantized.push_back(uint64_t(cache->n_quantized(0, Side::k) + cache->n_quantized(0, Side::v)));
    }
    return t;
}

double largest_nll_difference(const RunModel& a, int lane_a, const RunModel& b, int lane_b) {
    double worst = a.lane(lane_a).size() == b.lane(lane_b).size() ? 0 : INFINITY;
    for (size_t i = 0; i < std::min(a.lane(lane_a).size(), b.lane(lane_b).size()); ++i)
        worst = largest_or_nan({worst, std::abs(double(a.lane(lane_a)[i].nll) - b.lane(lane_b)[i].nll)});
    return worst;
}

/// Largest difference between a real cache's ledger and the closed form over a prompt and decoding steps, in bytes.
Result<int64_t> ledger_against_formula(const std::string& text) {
    constexpr int kPrompt = 64, kTokens = kPrompt + 160;
    const CacheShape shape{1, 2, 64, kTokens};
    const auto spec = parse_cache_spec(text);
    if (!spec) return spec.error();
    auto cache = KvCache::create(*spec, shape);
    if (!cache) return cache.error();
    std::vector<float> x(64);
    const PutToken put = [&](int t) {
        for (int h = 0; h < shape.n_kv_heads; ++h) {
            for (size_t d = 0; d < x.size(); ++d)
                x[d] = std::sin(float(t * 131 + h * 17) + float(d) * 0.7f);
            (*cache)->put(0, h, t, x.data(), x.data());
        }
    };
    int64_t worst = 0;
    for (int n = kPrompt; n <= kTokens; ++n) {
        const Status fed = n == kPrompt ? feed_prompt(**cache, kPrompt, put) : feed_token(**cache, put);
        if (!fed) return fed.error();
        const auto used = int64_t((*cache)->ledger().total()),
                   formula = int64_t(cache_bytes(*spec, shape, kPrompt, n).total());
        worst = std::max(worst, std::abs(used - formula));
    }
    return worst;
}

class LawBook {
 public:
    LawBook(std::shared_ptr<const Model> model, int n_threads, const Progress& progress, const CancelCheck& cancelled)
        : model_(std::move(model)), n_threads_(n_threads), progress_(progress), cancelled_(cancelled) {}

    Result<Laws> check() {
        for (const auto chapter : {&LawBook::paths_and_draws, &LawBook::blind, &LawBook::exact_turns,
                                   &LawBook::comparisons, &LawBook::widths, &LawBook::space, &LawBook::own_time}) {
            if (progress_) progress_(double(n_chapters_++) / 7, "checking the laws");
            const Status ok = (this->*chapter)();
            if (!ok && ok.error().code == ErrorCode::interrupted) return Laws{std::move(laws_), false};
            if (!ok) return ok.error();
        }
        return Laws{std::move(laws_), true};
    }

 private:
    static constexpr int kPrefill = 128, kDraws = 8;
    static constexpr double kStudent = 5.408;  ///< |t| with kDraws - 1 degrees of freedom stays below with p = 0.999

    /// A figure that is not a number is at most nothing: the law is broken.
    void at_most(std::string name, double figure, double bound, std::string says) {
        laws_.push_back({std::move(name), std::move(says), figure, bound, figure <= bound});
    }
    TrialSetup setup(std::vector<std::string> specs, int n_tokens) const {
        TrialSetup setup;
        setup.specs = std::move(specs), setup.n_tokens = n_tokens, setup.n_threads = n_threads_;
        return setup;
    }
    Result<Trial> run_trial(const TrialSetup& setup) const { return trial(model_, setup, cancelled_); }
    static double kl(const Trial& t, int lane) { return t.measured.summary(lane).kl_mean; }

    /// Threads, chunks and kernel paths; and that the cache is read at all.
    Status paths_and_draws() {
        const std::vector<std::string> schemes{"quanto:4", "quanto:2", "kivi:4", "kivi:2", "hadamard:2"};
        std::vector<std::string> specs = schemes;
        specs.insert(specs.begin(), "fp16");
        const TrialSetup base = setup(specs, 48);
        const auto fused = run_trial(base);
        if (!fused) return fused.error();
        TrialSetup other = base;
        other.n_threads = n_threads_ == 1 ? 3 : 1;
        other.chunk = 7;
        const auto again = run_trial(other);
        if (!again) return again.error();
        double moved = 0;
        for (int i = 0; i < fused->measured.n_lanes(); ++i)
            moved = largest_or_nan({moved, largest_nll_difference(fused->measured, i, again->measured, i)});
        at_most("one result", moved, 0, "the same bits with other thread counts and prompt chunks");

        TrialSetup reference = base;
        reference.path = KernelPath::reference;
        const auto plain = run_trial(reference);
        if (!plain) return plain.error();
        // Token by token a rounding of one unit flips codes: the paths agree as well as two draws of the scheme do.
        std::vector<Trial> draws{*fused};
        for (int order = 1; order < kDraws; ++order) {
            TrialSetup draw = base;
            draw.sum_order = order;
            auto drawn = run_trial(draw);
            if (!drawn) return drawn.error();
            draws.push_back(std::move(*drawn));
        }
        for (int i = 1; i <= int(schemes.size()); ++i) {
            std::vector<double> kls;
            for (const Trial& draw : draws)
                kls.push_back(kl(draw, i));
            at_most("packed = simulated, " + schemes[size_t(i) - 1],
                    std::abs(kl(*plain, i) - mean(kls)) / (sample_deviation(kls) * std::sqrt(1 + 1.0 / kDraws)),
                    kStudent,
                    "mean KL of the dequantized values against 8 draws of the fused kernels, in standard errors of a "
                    "ninth draw; the bound is Student's t for 7 degrees of freedom at 99.9 %");
        }
        uint64_t fewest = UINT64_MAX;
        for (size_t i = 1; i < fused->n_quantized.size(); ++i)
            fewest = std::min(fewest, fused->n_quantized[i]);
        at_most("the cache is read", fewest > 0 ? 0 : 1, 0, "every quantized lane holds quantized tokens");
        ids_ = fused->measured.text_ids();
        return {};
    }

    Status blind() {
        std::vector<double> exact;
        double worst = 0;
        for (const char* text : {"fp16", "quanto:4", "quanto:2", "hqq:8", "hqq:4", "hqq:2", "kivi:4", "kivi:2",
                                 "hadamard:2", "ternary", "hadamard-ternary"}) {
            const auto nll = blind_nll(model_, parse_cache_spec(text).value(), ids_, kPrefill, n_threads_, cancelled_);
            if (!nll) return nll.error();
            if (exact.empty()) exact = *nll;
            for (size_t i = 0; i < nll->size(); ++i)
                worst = largest_or_nan({worst, std::abs((*nll)[i] - exact[i])});
        }
        at_most(
            "blind is blind", worst, 0,
            "one forward pass gives every HF, KIVI and kv-hadamard scheme fp16's numbers: it never reads the cache");
        return {};
    }

    /// Rotation, centring and a window over everything change nothing by themselves.
    Status exact_turns() {
        TrialSetup rotated = setup(
            {"fp32", "k=fp32:rotate; v=fp32:rotate; flush=write", "k=fp32:centre; v=fp32; residual=16; flush=block"},
            48);
        const auto t = run_trial(rotated);
        if (!t) return t.error();
        TrialSetup window =
            setup({"fp16", "kivi:2,residual=512", "hadamard:2,v_residual=512,k=fp16", "quanto:4,residual=512"}, 48);
        window.noise_floor = true;
        const auto w = run_trial(window);
        if (!w) return w.error();
        const double floor = w->measured.noise_floor().kl_mean;
        at_most("noise floor", floor, 1e-6, "mean KL of fp16 against itself with its sums in another order, nats");
        at_most("rotation is exact", kl(*t, 1), floor, "fp32 with K and V rotated is fp32 within the noise floor");
        at_most("centring is free", kl(*t, 2), floor, "fp32 with mean-centred K is fp32 within the noise floor");
        at_most("residual covers all",
                largest_or_nan({largest_nll_difference(w->measured, 1, w->measured, 0),
                                largest_nll_difference(w->measured, 2, w->measured, 0)}),
                0, "kivi and hadamard with a residual longer than the text are fp16 to the bit");
        at_most("no residual covers a prompt", 1 / largest_nll_difference(w->measured, 3, w->measured, 0), 1e6,
                "Transformers' presets cannot: they quantize the whole prompt at once (1 / largest nll difference)");
        return {};
    }

    /// Orders of mean KL that the field reports.
    Status comparisons() {
        const auto t = run_trial(setup({"fp16", "kivi:4", "kivi:2,k=kivi:4", "kivi:2,k=kivi:4,sink=1", "hadamard:2",
                                        "hadamard:2,sink=1", "hadamard:2,v_residual=0", "ternary", "kivi:4,k=kivi:2"},
                                       256));
        if (!t) return t.error();
        const double kivi4 = kl(*t, 1), plain = kl(*t, 2), sink = kl(*t, 3), rotated = kl(*t, 4), both = kl(*t, 5),
                     none = kl(*t, 6), ternary = kl(*t, 7), keys2 = kl(*t, 8);
        at_most("the first token is a sink", sink / plain, 2.0 / 3,
                "sink=1 on plain 2-bit values over 4-bit keys lowers the mean KL by a third or more");
        at_most("sink and rotation together", largest_or_nan({both / plain, both / sink, both / rotated}), 1,
                "2-bit values: rotation with sink=1 is the best of the four");
        at_most("keys before values", plain / keys2, 1, "K 4 bit V 2 bit over K 2 bit V 4 bit, mean KL");
        at_most("rotation pays", rotated / plain, 1, "2-bit values rotated over plain ones at equal keys, mean KL");
        at_most("order of the failures", largest_or_nan({kivi4 / rotated, rotated / none, none / ternary}), 1,
                "fp16 < kivi:4 < hadamard:2 < hadamard:2,v_residual=0 < ternary on mean KL");
        return {};
    }

    Status widths() {
        const auto spec = [](int bits) {
            return fmt::format("k=affine{}; v=affine{}; residual=32; flush=whole", bits, bits);
        };
        const auto t = run_trial(setup({"fp16", spec(2), spec(3), spec(4), spec(8)}, 48));
        if (!t) return t.error();
        double worst = 0;
        for (int i = 2; i <= 4; ++i)
            worst = largest_or_nan({worst, kl(*t, i) / kl(*t, i - 1)});
        at_most("more bits, less error", worst, 1, "mean KL from 2 to 3, 4 and 8 bits at equal groups and axis");
        return {};
    }

    /// Laws about caches alone, without the model's numbers.
    Status space() {
        const SchemeWalk walk = walk_schemes(200, 1);
        at_most("packed = simulated, anywhere", walk.problem.empty() ? walk.worst : INFINITY, 1,
                walk.problem.empty()
                    ? "fused against dequantized scores and sums on 200 random schemes, in units of the "
                      "kernels' bound"
                    : walk.problem);
        int64_t off = 0;
        for (const Preset& preset : presets()) {
            const auto bytes = ledger_against_formula(preset.name);
            if (!bytes) return bytes.error();
            off = std::max(off, *bytes);
        }
        at_most(
            "ledger = formula", double(off), 0,
            "bytes in use against the closed form, every preset, a prompt and 160 steps; largest difference in bytes");
        const auto growth = requantization_growth("quanto:4,residual=32");
        if (!growth) return growth.error();
        const auto drifts = requantization_growth("hqq:4,axis_key=0,axis_value=0,residual=32");
        if (!drifts) return drifts.error();
        at_most("requantization is idempotent", *growth, 1.01,
                "Quanto axis 0: error of the first tokens after 6 flushes over that after 1");
        at_most("requantization drifts", 1.5 / *drifts, 1,
                "HQQ axis 0: the same error grows by half or more (1.5 / growth)");
        return {};
    }

    /// What stands beside a lane must not make it look slow. Speeds vary with the machine, so the best of some tries is
    /// taken, and the bound is wide: booking another lane's quantizing to it is a factor of 5.
    Status own_time() {
        double beside_itself = 0, beside_another = 0;
        for (int i = 0; i < 4; ++i)
            for (const auto& [other, best] : {std::pair<const char*, double*>{"fp16,sink=1", &beside_itself},
                                              {"hqq:4,residual=2", &beside_another}}) {
                const auto t = run_trial(setup({"fp16", other}, 24));
                if (!t) return t.error();
                *best = std::max(*best, t->measured.summary(0).tokens_per_second);
            }
        at_most("a lane's time is its own", beside_itself / beside_another, 2,
                "tokens/s of fp16 beside another fp16 over those beside hqq:4 that quantizes at every second step; the "
                "best of 4 runs each");
        return {};
    }

    std::shared_ptr<const Model> model_;
    int n_threads_;
    const Progress& progress_;
    const CancelCheck& cancelled_;
    int n_chapters_ = 0;
    std::vector<Law> laws_;
    std::vector<int> ids_;  ///< prompt and scored tokens of the built-in text
};

}  // namespace

Result<Laws> check_laws(std::shared_ptr<const Model> model, int n_threads, const Progress& progress,
                        const CancelCheck& cancelled) {
    return LawBook(std::move(model), n_threads, progress, cancelled).check();
}

}  // namespace kvasir
