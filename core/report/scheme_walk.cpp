// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/scheme_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/cache/feed.h"

namespace kvasir {
namespace {

constexpr int kHeads = 2, kQueries = 3, kPrompt = 48, kTokens = 112;

using Random = std::mt19937_64;

const char* pick(Random& random, std::initializer_list<const char*> choices) {
    return choices.begin()[random() % choices.size()];
}

std::string random_side(Random& random, bool keys) {
    std::string text =
        pick(random, {"affine1", "affine2", "affine3", "affine4", "affine5", "affine6", "affine7", "affine8", "affine4",
                      "affine2", "hqq2",    "hqq4",    "hqq8",    "ternary", "q8_0",    "q5_1",    "q5_0",    "q4_1",
                      "q4_0",    "turbo2",  "turbo3",  "turbo4",  "exl3",    "exl6",    "fp8",     "fp16",    "fp32"});
    const auto sometimes = [&](int one_in, std::string part) {
        if (random() % uint64_t(one_in) == 0) text += ":" + part;
    };
    sometimes(2, fmt::format("group={}", pick(random, {"8", "16", "32", "64", "20", "head"})));
    sometimes(3, fmt::format("axis={}", pick(random, {"token", "channel", "channel", "rows", "strided"})));
    sometimes(3, fmt::format("form={}", pick(random, {"shift", "minimum", "minimum_f32", "quarot", "integer"})));
    sometimes(3, fmt::format("rotate={}", pick(random, {"on", "16", "32", "64", "llama", "20"})));
    sometimes(6, "signs");
    sometimes(8, "order=pairs");
    if (keys) sometimes(6, "centre");
    if (keys) sometimes(8, "rope=before");
    sometimes(8, "optimize=off");
    return text;
}

std::string random_spec(Random& random) {
    std::string text = fmt::format("k={}; v={}; residual={}; ", random_side(random, true), random_side(random, false),
                                   pick(random, {"0", "4", "16", "32", "32", "64"}));
    text += pick(random, {"flush=whole", "flush=kivi", "flush=kivi", "flush=slide", "flush=block", "flush=write",
                          "flush_k=block; flush_v=write", "flush_k=write; flush_v=whole"});
    if (random() % 4 == 0) text += fmt::format("; sink={}", random() % 6);
    if (random() % 5 == 0) text += "; score=after_flush";
    if (random() % 8 == 0) text += pick(random, {"; layers_k=0:kivi:4", "; layers_v=0:tq:3", "; layers=0:fp16"});
    return text;
}

/// Values like a model's: some strong channels and an offset.
std::vector<float> random_vectors(Random& random, size_t n, int head_dim) {
    std::normal_distribution<float> normal;
    std::vector<float> x(n * size_t(head_dim));
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = normal(random) * (i % size_t(head_dim) % 13 == 5 ? 6.0f : 1.0f) + 0.3f;
    return x;
}

/// Prompt and decoding. A refusal comes back as its error.
Status fill(KvCache& cache, const std::vector<float>& k, const std::vector<float>& v, int head_dim) {
    const PutToken put = [&](int t) {
        for (int h = 0; h < kHeads; ++h) {
            const size_t at = (size_t(t) * kHeads + size_t(h)) * size_t(head_dim);
            cache.put(0, h, t, k.data() + at, v.data() + at);
        }
    };
    if (Status ok = feed_prompt(cache, kPrompt, put); !ok) return ok;
    for (int t = kPrompt; t < kTokens; ++t)
        if (Status ok = feed_token(cache, put); !ok) return ok;
    return {};
}

double largest_norm(const std::vector<float>& x, int head_dim) {
    double largest = 0;
    for (size_t at = 0; at < x.size(); at += size_t(head_dim)) {
        double sum = 0;
        for (size_t d = 0; d < size_t(head_dim); ++d)
            sum += double(x[at + d]) * x[at + d];
        largest = std::max(largest, sum);
    }
    return std::sqrt(largest);
}

/// Scores and outputs of one head, for fixed weights: (kQueries * kTokens) and (kQueries * head_dim).
std::vector<float> read_all(const KvCache& cache, const std::vector<float>& q, int head, int head_dim) {
    std::vector<float> prepared(cache.query_floats(kQueries)), out(size_t(kQueries) * kTokens);
    cache.prepare_query(0, q.data(), kQueries, prepared.data());
    cache.scores(0, head, prepared.data(), kQueries, 0, kTokens, out.data(), kTokens);
    std::vector<float> p(out.size()), acc(cache.sum_floats(kQueries));
    for (size_t i = 0; i < p.size(); ++i)
        p[i] = float(i * 37 % 101) / 101;
    cache.weighted_sum(0, head, p.data(), kTokens, kQueries, 0, kTokens, acc.data());
    const size_t n = out.size();
    out.resize(n + size_t(kQueries) * size_t(head_dim));
    cache.finish_output(0, acc.data(), kQueries, out.data() + n);
    return out;
}

}  // namespace

SchemeWalk walk_schemes(int n_points, uint64_t seed) {
    Random random(seed);
    SchemeWalk walk;
    const auto rope = [](int position, float* cos, float* sin) {
        for (int i = 0; i < 64; ++i) {
            const float angle = float(position) / std::pow(10000.0f, float(i) / 64);
            cos[i] = std::cos(angle), sin[i] = std::sin(angle);
        }
    };
    while (walk.n_points < n_points && walk.n_refused < 100 * n_points && walk.problem.empty()) {
        const std::string text = random_spec(random);
        const int sizes[] = {32, 64, 64, 80, 96, 128};
        const int head_dim = sizes[random() % std::size(sizes)];
        const auto refused = [&](const Error& error) {
            ++walk.n_refused;
            if (error.why.empty() || error.hint.empty())
                walk.problem = fmt::format("{}: refused without a reason or a way out: {}", text, error.message());
        };
        const auto spec = parse_cache_spec(text);
        if (!spec) {
            refused(spec.error());
            continue;
        }
        const auto half_rope = [&](int position, float* cos, float* sin) {
            float c[64], s[64];
            rope(position, c, s);
            std::copy_n(c, head_dim / 2, cos);
            std::copy_n(s, head_dim / 2, sin);
        };
        const CacheShape shape{1, kHeads, head_dim, kTokens, half_rope};
        auto fused = KvCache::create(*spec, shape, KernelPath::fused);
        if (!fused) {
            refused(fused.error());
            continue;
        }
        auto plain = KvCache::create(*spec, shape, KernelPath::reference);
        if (!plain) {
            walk.problem = fmt::format("{}: only the reference path refused", text);
            break;
        }
        const auto k = random_vectors(random, size_t(kTokens) * kHeads, head_dim),
                   v = random_vectors(random, size_t(kTokens) * kHeads, head_dim),
                   q = random_vectors(random, kQueries, head_dim);
        if (Status ok = fill(**fused, k, v, head_dim); !ok) {
            refused(ok.error());
            continue;
        }
        if (Status ok = fill(**plain, k, v, head_dim); !ok) {
            walk.problem = fmt::format("{}: only the reference path refused", text);
            break;
        }
        const double root = std::sqrt(double(head_dim)), unit = 3.0 / 2048;
        // Centred or coarse groups can lie a little outside their values: a quarter more is allowed for.
        const double score_bound = 1.25 * unit * root * largest_norm(q, head_dim) * largest_norm(k, head_dim);
        const double sum_bound = 1.25 * unit * 0.5 * kTokens * largest_norm(v, head_dim);
        for (int head = 0; head < kHeads; ++head) {
            const auto a = read_all(**fused, q, head, head_dim), b = read_all(**plain, q, head, head_dim);
            for (size_t i = 0; i < a.size(); ++i) {
                const double bound = i < size_t(kQueries) * kTokens ? score_bound : sum_bound;
                const double ratio = std::abs(double(a[i]) - b[i]) / bound;
                if (!std::isfinite(ratio))
                    walk.problem = fmt::format("{} at head size {}: a value is not finite", text, head_dim);
                if (ratio > walk.worst) walk.worst = ratio, walk.worst_spec = text;
            }
        }
        ++walk.n_points;
    }
    return walk;
}

}  // namespace kvasir
