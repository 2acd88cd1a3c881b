// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "core/model/forward.h"
#include "kernels/cpu/quantize_row.h"
#include "support/default_model.h"
#include "support/golden.h"

using namespace kvasir;
using kvasir::test::golden_json;

namespace {

std::shared_ptr<const Model> load(const std::string& path) {
    auto model = Model::load(path);
    if (!model) qFatal("%s", model.error().message().c_str());
    return *model;
}

std::unique_ptr<KvCache> make_cache(const Model& model, const char* spec, int max_tokens) {
    const ModelConfig& c = model.config();
    auto cache = KvCache::create(parse_cache_spec(spec).value(), {c.n_layers, c.n_kv_heads, c.head_dim, max_tokens});
    return std::move(cache).value();
}

/// Logits of every position of a prompt, read in chunks; the cache is left with the prompt stored.
std::vector<float> prompt_logits(Forward& forward, KvCache& cache, const std::vector<int>& ids, size_t chunk) {
    const size_t n_vocab = size_t(forward.model().config().n_vocab);
    std::vector<float> all;
    cache.begin_prompt(int(ids.size()));
    for (size_t i = 0; i < ids.size(); i += chunk) {
        Sequence s;
        s.tokens.assign(ids.begin() + long(i), ids.begin() + long(std::min(ids.size(), i + chunk)));
        s.caches = {&cache};
        ForwardOptions options;
        options.flush = false;
        options.all_logits = true;
        std::vector<float> logits;
        if (!forward.run({&s, 1}, options, logits)) qFatal("forward refused");
        for (size_t r = 0; r < s.tokens.size(); ++r) {
            const auto row = logits.begin() + long(r * forward.logits_stride());
            all.insert(all.end(), row, row + long(n_vocab));
        }
    }
    KvCache* one = &cache;
    for (const Status& status : forward.finish_prompt({&one, 1}))
        if (!status) qFatal("%s", status.error().message().c_str());
    return all;
}

/// One step through the cache; appends the logits.
std::vector<float> step(Forward& forward, KvCache& cache, int token) {
    Sequence s;
    s.tokens = {token};
    s.caches = {&cache};
    std::vector<float> logits;
    if (!forward.run({&s, 1}, {}, logits)) qFatal("forward refused");
    logits.resize(size_t(forward.model().config().n_vocab));
    return logits;
}

int best(const std::vector<float>& logits) {
    return int(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

class TestForward : public QObject {
    Q_OBJECT
 private slots:
    void weightsWrittenAnew() {
        using kernels::WeightType;
        const std::string path = kvasir::test::golden_path("models/gguf/llama-gqa-Q4_1.gguf");
        const auto golden = golden_json("models/gguf/llama-gqa-Q4_1.golden.json");
        const auto ids = golden["inputs"][0]["ids"].get<std::vector<int>>();
        const auto loaded = [&](WeightsAs weights) { return Model::load(path, {}, {}, weights).value(); };
        const auto logits = [&](const std::shared_ptr<const Model>& model, int sum_order = 0) {
            Forward forward(model, 2, sum_order);
            return prompt_logits(forward, *make_cache(*model, "fp32", int(ids.size()) + 32), ids, 16);
        };
        const auto apart = [](const std::vector<float>& a, const std::vector<float>& b) {
            double most = 0;
            for (size_t i = 0; i < a.size(); ++i)
                most = std::max(most, std::abs(double(a[i]) - b[i]));
            return most;
        };
        const auto as_is = loaded(WeightsAs::as_is), f32 = loaded(WeightsAs::f32), q4_0 = loaded(WeightsAs::q4_0);
        QCOMPARE(as_is->weights_as_run(), std::string("Q4_1"));
        QCOMPARE(q4_0->weights_as_run(), std::string("Q4_0"));
        QCOMPARE(q4_0->config().weights, std::string("Q4_1"));

        // The same numbers in another type: not further apart than two orders of the sums, with room for luck.
        const auto plain = logits(as_is);
        const double floor = apart(plain, logits(as_is, 1));
        QVERIFY(floor > 0);
        QVERIFY2(apart(plain, logits(f32)) < 8 * floor, qPrintable(QString::number(floor)));
        QVERIFY(apart(plain, logits(q4_0)) > 100 * floor);

        // Rows: the file's values through ggml's q4_0, in a projection and in the embedding.
        const GgufTensor& tensor = *as_is->file().tensor("blk.0.attn_v.weight");
        const int cols = int(tensor.dims[0]), rows = int(tensor.dims[1]);
        const size_t stride = kernels::row_bytes(WeightType::q4_1, cols),
                     packed = kernels::row_bytes(WeightType::q4_0, cols);
        std::vector<uint8_t> expected(packed * size_t(rows)), stored(tensor.n_bytes);
        QVERIFY(as_is->file().read(tensor, 0, stored.size(), stored.data()).ok());
        std::vector<float> values(static_cast<size_t>(cols));
        for (int r = 0; r < rows; ++r) {
            kernels::dequantize_row(WeightType::q4_1, stored.data() + stride * size_t(r), cols, values.data());
            QVERIFY(kernels::quantize_row(WeightType::q4_0, values.data(), cols, &expected[packed * size_t(r)]));
        }
        const auto want = kernels::PackedMatrix::pack(WeightType::q4_0, rows, cols,
                                                      [&](int r) { return &expected[packed * size_t(r)]; });
        const kernels::PackedMatrix& got = q4_0->layer(0).v;
        QCOMPARE(got.type(), WeightType::q4_0);
        QCOMPARE(got.bytes(), want.bytes());
        QVERIFY(std::equal(got.data(), got.data() + got.bytes(), want.data()));

        const int n_embd = as_is->config().n_embd;
        std::vector<float> row(static_cast<size_t>(n_embd)), row_q4(row);
        as_is->embed(5, row.data());
        q4_0->embed(5, row_q4.data());
        std::vector<uint8_t> block(kernels::row_bytes(WeightType::q4_0, n_embd));
        kernels::quantize_row(WeightType::q4_0, row.data(), n_embd, block.data());
        kernels::dequantize_row(WeightType::q4_0, block.data(), n_embd, row.data());
        QCOMPARE(row_q4, row);
    }
    void everyWeightType_data() {
        QTest::addColumn<QString>("name");
        for (const char* type : {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"})
            QTest::newRow(type) << QString("llama-gqa-%1").arg(type);
    }
    void everyWeightType() {
        QFETCH(QString, name);
        const std::string base = "models/gguf/" + name.toStdString();
        const auto golden = golden_json(base + ".golden.json");
        const auto model = load(kvasir::test::source_path("tests/golden/" + base + ".gguf"));
        const double tolerance = golden["tolerance"];
        Forward forward(model, 2);
        for (const auto& input : golden["inputs"]) {
            const auto ids = input["ids"].get<std::vector<int>>();
            const auto cache = make_cache(*model, "fp32", int(ids.size()) + 32);
            const auto logits = prompt_logits(forward, *cache, ids, 16);
            const size_t n_vocab = size_t(model->config().n_vocab);
            for (size_t p = 0; p < ids.size(); ++p)
                for (size_t k = 0; k < 5; ++k) {
                    const double want = input["top5_logits"][p][k],
                                 got = logits[p * n_vocab + input["top5_ids"][p][k].get<size_t>()];
                    QVERIFY2(std::abs(got - want) <= tolerance,
                             qPrintable(QString("position %1: %2 %3").arg(p).arg(got).arg(want)));
                }
            for (size_t v = 0; v < n_vocab; ++v)
                QVERIFY(std::abs(logits[(ids.size() - 1) * n_vocab + v] - input["last_logits_fp64"][v].get<double>()) <=
                        tolerance);
            std::vector<float> last(logits.end() - long(n_vocab), logits.end());
            for (const int token : input["greedy"].get<std::vector<int>>()) {
                QCOMPARE(best(last), token);
                last = step(forward, *cache, token);
            }
        }
    }

    void goldenLogits() {
        KVASIR_RELEASE_ONLY();
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        Forward forward(model, 2);
        const auto prompts = golden_json("logits/prompts.json");
        for (const auto& p : prompts) {
            const auto ids = p["ids"].get<std::vector<int>>();
            for (const char* spec : {"fp32", "fp16"}) {
                const auto cache = make_cache(*model, spec, int(ids.size()) + 64);
                auto logits = prompt_logits(forward, *cache, ids, 128);
                logits.erase(logits.begin(), logits.end() - model->config().n_vocab);
                for (const auto& row : p[std::string("top20_") + spec + "_cache"]) {
                    // fp32: another order of sums. fp16: rounding at the cache's door flips with it.
                    const double tolerance = std::string(spec) == "fp32" ? 2e-4 : 2e-2;
                    QVERIFY(std::abs(logits[row[0].get<size_t>()] - row[1].get<double>()) <= tolerance);
                }
                if (std::string(spec) == "fp32") continue;
                for (size_t i = 0; i < p["greedy_ids"].size(); ++i) {
                    if (p["margins"][i].get<double>() < 0.02) break;  // a tie: this token and what follows are a draw
                    QCOMPARE(best(logits), p["greedy_ids"][i].get<int>());
                    logits = step(forward, *cache, p["greedy_ids"][i]);
                }
            }
        }
    }

    void sameBitsForThreadsAndChunks() {
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        const auto ids = golden_json("eval/lighthouse.json")["token_ids"].get<std::vector<int>>();
        constexpr size_t kPrompt = kSanitized ? 16 : 140, kSteps = kSanitized ? 2 : 8;
        const std::vector<int> prompt(ids.begin(), ids.begin() + kPrompt);
        std::vector<float> want;
        struct Setting {
            int threads;
            size_t chunk;
        };
        for (const Setting s : {Setting{2, kPrompt}, {1, 1}, {3, 7}, {7, 128}, {2, 7}}) {
            Forward forward(model, s.threads);
            const auto cache = make_cache(*model, "kivi:2", 200);
            auto logits = prompt_logits(forward, *cache, prompt, s.chunk);
            for (size_t i = kPrompt; i < kPrompt + kSteps; ++i) {
                const auto next = step(forward, *cache, ids[i]);
                logits.insert(logits.end(), next.begin(), next.end());
            }
            if (want.empty()) want = logits;
            QVERIFY2(want == logits, qPrintable(QString("%1 threads, chunk %2").arg(s.threads).arg(s.chunk)));
        }
    }

    void sameBitsForAnyNumberOfLanes() {
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        const auto ids = golden_json("eval/lighthouse.json")["token_ids"].get<std::vector<int>>();
        constexpr size_t kPrompt = kSanitized ? 10 : 70;
        const std::vector<int> prompt(ids.begin(), ids.begin() + kPrompt);
        Forward forward(model, 2);
        const auto alone = make_cache(*model, "quanto:4", 100);
        prompt_logits(forward, *alone, prompt, kPrompt);
        const auto want = step(forward, *alone, ids[kPrompt]);
        for (int n : {2, 3, 5}) {
            std::vector<std::unique_ptr<KvCache>> caches;
            std::vector<Sequence> sequences(static_cast<size_t>(n));
            for (int i = 0; i < n; ++i) {
                caches.push_back(make_cache(*model, "quanto:4", 100));
                prompt_logits(forward, *caches.back(), prompt, kPrompt);
                sequences[size_t(i)].tokens = {ids[kPrompt]};
                sequences[size_t(i)].caches = {caches.back().get()};
            }
            std::vector<float> logits;
            QVERIFY(forward.run(sequences, {}, logits).ok());
            for (int i = 0; i < n; ++i)
                QVERIFY(
                    std::equal(want.begin(), want.end(), logits.begin() + long(size_t(i) * forward.logits_stride())));
        }
    }

    void cancelStopsWithinALayer() {
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        Forward forward(model, 2);
        const auto cache = make_cache(*model, "fp16", 16);
        cache->begin_prompt(4);
        Sequence s;
        s.tokens = {1, 2, 3, 4};
        s.caches = {cache.get()};
        ForwardOptions options;
        options.flush = false;
        std::vector<float> logits;
        int asked = 0;
        const Status status = forward.run({&s, 1}, options, logits, [&] { return ++asked == 5; });
        QVERIFY(!status.ok());
        QVERIFY(status.error().code == ErrorCode::interrupted);
        QCOMPARE(asked, 5);
        QCOMPARE(cache->n_tokens(3), 4);
        QCOMPARE(cache->n_tokens(4), 0);
    }
};

QTEST_APPLESS_MAIN(TestForward)
#include "tst_forward.moc"
