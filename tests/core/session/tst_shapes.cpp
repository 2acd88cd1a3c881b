// SPDX-License-Identifier: GPL-3.0-or-later
// Models and caches of random shapes: every preset runs or is refused with a sentence; what runs is compared between
// the fused kernels and read(), and exact caches with a forward pass in double precision. KVASIR_SHAPES=N takes more
// shapes, KVASIR_SHAPES_SEED=N others; a failure prints the seed of its shape.
#include <fmt/format.h>

#include "core/cache/attention_by_cache.h"
#include "core/cache/cache_bytes.h"
#include "core/cache/feed.h"
#include "core/model/forward.h"
#include "core/session/run_fixture.h"
#include "support/small_model.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

int number(const char* name, int otherwise) {
    bool ok = false;
    const int given = qEnvironmentVariableIntValue(name, &ok);
    return ok ? given : otherwise;
}

/// A head size a file might state: the usual ones, and any even number of channels.
int random_head_dim(std::mt19937& random, int most) {
    const int usual[] = {8, 10, 16, 20, 32, 48, 64, 80, 96, 100, 128, 160, 192, 256, 512};
    const int picked =
        random() % 2 ? usual[random() % std::size(usual)] : 8 + 2 * int(random() % (unsigned(most - 8) / 2 + 1));
    return std::min(picked, most);
}

SmallShape random_shape(unsigned seed) {
    using kernels::WeightType;
    std::mt19937 random(seed);
    const auto between = [&](int lo, int hi) { return lo + int(random() % unsigned(hi - lo + 1)); };
    const WeightType types[] = {WeightType::f32, WeightType::f16, WeightType::q8_0, WeightType::q4_0};
    SmallShape s;
    s.seed = seed;
    s.head_dim = random_head_dim(random, 128);
    s.n_kv_heads = between(1, 3);
    s.n_heads = s.n_kv_heads * between(1, 5);
    s.n_layers = between(1, 3);
    s.weights = types[random() % 4];
    const bool blocks = s.weights == WeightType::q8_0 || s.weights == WeightType::q4_0;
    s.n_embd = blocks && random() % 4 ? 32 * between(1, 4) : between(5, 130);
    s.n_ff = blocks && random() % 4 ? 32 * between(1, 6) : between(1, 200);
    s.n_vocab = between(3, 70);
    s.tied = random() % 2;
    s.bias = random() % 2;
    return s;
}

std::string say(const SmallShape& s) {
    return fmt::format(
        "KVASIR_SHAPES_SEED={}: {} layers, embedding {}, {} heads of {} ({} KV), n_ff {}, {} tokens, weights {}",
        s.seed, s.n_layers, s.n_embd, s.n_heads, s.head_dim, s.n_kv_heads, s.n_ff, s.n_vocab, int(s.weights));
}

bool is_sentence(const Error& e) {
    return !e.what.empty() && !e.why.empty() && !e.hint.empty();
}

/// A text of the model's own letters, and its tokens.
std::string letters(const SmallShape& s, int n) {
    std::mt19937 random(s.seed);
    std::string text;
    for (int i = 0; i < n; ++i)
        text += char('a' + int(random() % unsigned(std::min(26, s.n_vocab))));
    return text;
}

double largest(const std::vector<float>& x) {
    double most = 0;
    for (const float value : x)
        most = std::max(most, std::abs(double(value)));
    return most;
}

}  // namespace

class TestShapes : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    const unsigned seed_ = unsigned(number("KVASIR_SHAPES_SEED", 1));

 private slots:
    void every_cache_by_read() {
        for (int i = 0; i < number("KVASIR_SHAPES", 14); ++i) {
            std::mt19937 random(seed_ + unsigned(i));
            const int head_dim = random_head_dim(random, 512), n_kv = 1 + int(random() % 3),
                      n_heads = n_kv * (1 + int(random() % 9)), n_prompt = 1 + int(random() % 80), n = n_prompt + 24;
            std::normal_distribution<float> normal;
            std::vector<float> k(size_t(n * n_kv * head_dim)), v(k.size()), q(size_t(n_heads * head_dim));
            for (auto* x : {&k, &v, &q})
                for (float& value : *x)
                    value = normal(random);
            for (const Preset& preset : presets()) {
                const CacheSpec spec = parse_cache_spec(preset.name).value();
                const std::string what = fmt::format("KVASIR_SHAPES_SEED={}: {} with head_dim {}, {} KV heads, {} + 24",
                                                     seed_ + unsigned(i), preset.name, head_dim, n_kv, n_prompt);
                std::vector<std::vector<float>> outputs;
                for (const KernelPath path : {KernelPath::fused, KernelPath::reference}) {
                    const CacheShape shape{1, n_kv, head_dim, n};
                    auto cache = KvCache::create(spec, shape, path);
                    if (!cache) {
                        QVERIFY2(is_sentence(cache.error()), what.c_str());
                        break;
                    }
                    const PutToken put = [&](int t) {
                        for (int h = 0; h < n_kv; ++h) {
                            const size_t at = size_t((t * n_kv + h) * head_dim);
                            (*cache)->put(0, h, t, k.data() + at, v.data() + at);
                        }
                    };
                    Status stored = feed_prompt(**cache, n_prompt, put);
                    for (int t = n_prompt; stored && t < n; ++t)
                        stored = feed_token(**cache, put);
                    if (!stored) {
                        QVERIFY2(is_sentence(stored.error()), what.c_str());
                        break;
                    }
                    outputs.push_back(attention(**cache, q, n_heads));
                    QVERIFY2((*cache)->ledger() == cache_bytes(spec, shape, n_prompt, n), what.c_str());
                }
                if (outputs.size() < 2) continue;
                std::vector<float> apart = outputs[0];
                for (size_t j = 0; j < apart.size(); ++j)
                    apart[j] -= outputs[1][j];
                QVERIFY2(largest(apart) <= 2e-2 * largest(outputs[1]),
                         fmt::format("{}: {} of {}", what, largest(apart), largest(outputs[1])).c_str());
            }
        }
    }

    void exact_caches_by_double_precision() {
        const QString path = dir_.filePath("exact.gguf");
        for (int i = 0; i < number("KVASIR_SHAPES", 14); ++i) {
            const SmallShape shape = random_shape(seed_ + unsigned(i));
            const SmallModel written(shape);
            QVERIFY(written.write(path));
            const auto model = Model::load(path.toStdString());
            QVERIFY2(model.ok(), model ? "" : (say(shape) + "\n" + model.error().message()).c_str());
            const std::vector<int> ids = (*model)->encode_prompt(letters(shape, 20), false);
            QCOMPARE(ids.size(), size_t(20));
            const std::vector<double> want = written.logits(ids);
            double size = 0;
            for (const double x : want)
                size = std::max(size, std::abs(x));
            for (const KernelPath kernels : {KernelPath::fused, KernelPath::reference}) {
                auto cache = KvCache::create(parse_cache_spec("fp32").value(), (*model)->cache_shape(20), kernels);
                Forward forward(*model, 2);
                (*cache)->begin_prompt(13);
                std::vector<float> logits;
                for (const auto& [begin, end] : {std::pair(0, 13), {13, 14}, {14, 20}}) {  // a prompt, steps
                    Sequence s;
                    s.tokens.assign(ids.begin() + begin, ids.begin() + end);
                    s.caches = {cache->get()};
                    ForwardOptions options;
                    options.flush = begin > 0;
                    QVERIFY(forward.run({&s, 1}, options, logits).ok());
                }
                for (size_t id = 0; id < want.size(); ++id)
                    QVERIFY2(
                        std::abs(double(logits[id]) - want[id]) <= 2e-4 * size,
                        fmt::format("{}: token {} {} instead of {}", say(shape), id, logits[id], want[id]).c_str());
            }
        }
    }

    void every_preset_runs_or_is_refused() {
        const QString path = dir_.filePath("run.gguf");
        for (int i = 0; i < number("KVASIR_SHAPES", 14); ++i) {
            const SmallShape shape = random_shape(seed_ + unsigned(i));
            QVERIFY(SmallModel(shape).write(path));
            const auto model = Model::load(path.toStdString());
            QVERIFY2(model.ok(), say(shape).c_str());
            Experiment e;
            e.lanes.push_back({parse_cache_spec("fp16").value(), true});
            for (const Preset& preset : presets())
                e.lanes.push_back({parse_cache_spec(preset.name).value(), true});
            e.prompt = letters(shape, 60);
            e.score_text = true;
            e.prefill = 32;
            e.n_tokens = 28;
            e.n_threads = 2;
            e.noise_floor = true;
            std::vector<std::vector<StepRecord>> by_kernels;
            for (const KernelPath kernels : {KernelPath::fused, KernelPath::reference}) {
                e.kernels = kernels;
                const auto run = Run::create(*model, e);
                QVERIFY2(run.ok(), say(shape).c_str());
                RunModel measured;
                QVERIFY2(run_to_end(**run, **model, measured).ok(), say(shape).c_str());
                for (int lane = 0; lane < measured.n_lanes(); ++lane) {
                    const auto& info = measured.info().lanes[size_t(lane)];
                    const std::string what = say(shape) + ": " + info.requested;
                    if (info.failed) QVERIFY2(is_sentence(info.error), what.c_str());
                    const bool stopped = !(*run)->lane_error(lane).empty();
                    QVERIFY2(stopped || measured.lane(lane).size() == size_t(e.n_tokens), what.c_str());
                    by_kernels.push_back(measured.lane(lane));
                }
            }
            const size_t n = e.lanes.size();
            for (size_t lane = 0; lane < n; ++lane) {
                const auto &fused = by_kernels[lane], &by_read = by_kernels[n + lane];
                const std::string what = say(shape) + ": " + e.lanes[lane].spec.text;
                QVERIFY2(fused.size() == by_read.size(), what.c_str());
                if (fused.empty()) continue;
                // Codes at a boundary may fall to either side, and random models have wide logits: this is for gross
                // errors, the caches are compared closely above.
                double apart = 0, mean = 0;
                for (size_t t = 0; t < fused.size(); ++t)
                    apart += std::abs(double(fused[t].nll) - double(by_read[t].nll)) / double(fused.size()),
                        mean += double(by_read[t].nll) / double(fused.size());
                QVERIFY2(apart < 0.03 * (1 + mean), fmt::format("{}: {} of {} nats", what, apart, mean).c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestShapes)
#include "tst_shapes.moc"
