// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/report/capacity.h"
#include "support/golden.h"

using namespace kvasir;

namespace {

CapacityQuestion question(const char* shape, uint64_t memory) {
    const ModelShape s = find_model_shape(shape).value();
    return {s, memory, weight_bytes(s, 16), {}};
}

CacheSpec spec_of(const char* text) {
    return parse_cache_spec(text).value();
}

constexpr uint64_t k80GiB = uint64_t(80) << 30;

}  // namespace

class TestCapacity : public QObject {
    Q_OBJECT
 private slots:
    /// Counts published with the weights (safetensors totals of the model pages).
    void parametersAreThePublishedOnes() {
        const std::pair<const char*, uint64_t> published[] = {
            {"llama-2-7b", 6'738'415'616},    {"llama-2-13b", 13'015'864'320}, {"llama-3-8b", 8'030'261'248},
            {"mistral-7b", 7'241'732'096},    {"qwen2.5-0.5b", 494'032'768},   {"qwen2.5-1.5b", 1'543'714'304},
            {"qwen2.5-3b", 3'085'938'688},    {"qwen2.5-7b", 7'615'616'512},   {"qwen2.5-14b", 14'770'033'664},
            {"qwen2.5-32b", 32'763'876'352},  {"qwen2.5-72b", 72'706'203'648}, {"gemma-2-2b", 2'614'341'888},
            {"gemma-2-9b", 9'241'705'984},    {"gemma-2-27b", 27'227'128'320}, {"phi-3-mini", 3'821'079'552},
            {"phi-3-medium", 13'960'238'080}, {"tinyllama", 1'100'048'384},    {"smollm2-135m", 134'515'008},
            {"smollm2-360m", 361'821'120},    {"smollm2-1.7b", 1'711'376'384}};
        QCOMPARE(std::size(published), model_shapes().size());
        for (const auto& [name, n] : published) {
            const auto shape = find_model_shape(name);
            QVERIFY2(shape.ok(), name);
            if (shape->n_parameters() != n)
                QFAIL(qPrintable(QStringLiteral("%1: %2, published %3").arg(name).arg(shape->n_parameters()).arg(n)));
        }
    }
    void unknownShapesNameTheNearest() {
        QCOMPARE(find_model_shape("Llama-2-7B")->n_layers, 32);
        const auto wrong = find_model_shape("lama-2-7b");
        QVERIFY(!wrong.ok());
        QVERIFY(wrong.error().message().find("Nearest: llama-2-7b.") != std::string::npos);
    }
    void aFileHasAShape() {
        uint64_t bytes = 0;
        const auto shape = model_file_shape(test::golden_path("models/gguf/llama-gqa-F32.gguf"), &bytes);
        QVERIFY2(shape.ok(), shape ? "" : shape.error().message().c_str());
        QVERIFY(shape->n_kv_heads > 0 && shape->n_kv_heads < shape->n_heads);
        QCOMPARE(bytes, 4 * shape->n_parameters());
        QVERIFY(!model_file_shape("/nonexistent.gguf", &bytes).ok());
    }

    /// The longest context fits in the exact formula and one token more does not, with the window at its fullest.
    void longestContextIsTheLongest() {
        for (const char* text : {"fp16", "fp32", "quanto:4", "quanto:2,residual=32", "hqq:1", "kivi:2", "hadamard:2"}) {
            CapacityQuestion q = question("mistral-7b", k80GiB / 4);
            for (const bool with_transients : {false, true}) {
                if (with_transients) q.transients = {Transient::mlp, Transient::layer_copy};
                const CapacityRow row = capacity_row(q, spec_of(text));
                QVERIFY(row.refused.empty());
                const auto most = [&](int64_t n) {  // over where the window may stand
                    uint64_t bytes = 0;
                    for (int64_t prompt = std::max<int64_t>(n - 200, 1); prompt <= n; ++prompt) {
                        const ByteLedger b = cache_bytes(row.spec, q.shape.cache(), prompt, n);
                        bytes = std::max(bytes, b.total() - b.padding);
                    }
                    return q.weight_bytes + bytes + row.transient_bytes_per_token * uint64_t(n);
                };
                QVERIFY2(most(row.max_context) <= q.memory_bytes, text);
                uint64_t worst = 0;  // KIVI's key window is not full at every length
                for (int64_t n = row.max_context + 1; n <= row.max_context + 32; ++n)
                    worst = std::max(worst, most(n));
                QVERIFY2(worst > q.memory_bytes, text);
            }
        }
    }
    void bytesAloneOnEightyGiB() {
        const CapacityQuestion q = question("llama-2-7b", k80GiB);
        const CapacityRow fp16 = capacity_row(q, spec_of("fp16"));
        QCOMPARE(fp16.max_context, int64_t((k80GiB - 2 * uint64_t(6'738'415'616)) / 524288));
        QCOMPARE(fp16.fixed_bytes, uint64_t(0));
        const double ratio = double(capacity_row(q, spec_of("quanto:4")).max_context) / double(fp16.max_context);
        QVERIFY(ratio > 3.5 && ratio < 3.6);
    }
    void weightsMayNotFit() {
        QCOMPARE(capacity_row(question("qwen2.5-72b", k80GiB), spec_of("fp16")).max_context, int64_t(0));
    }
    void aShapeASchemeCannotStore() {
        const CapacityRow row = capacity_row(question("phi-3-mini", k80GiB), spec_of("kivi:2,group=40,residual=40"));
        QVERIFY2(row.refused.find("groups of 40 do not divide a head of 96") != std::string::npos, row.refused.c_str());
    }
    void transientsPerToken() {
        const ModelShape llama = find_model_shape("llama-2-7b").value();
        QCOMPARE(transient_bytes_per_token(Transient::logits32, llama, spec_of("fp16")), uint64_t(128000));
        QCOMPARE(transient_bytes_per_token(Transient::layer_copy, llama, spec_of("quanto:4")), uint64_t(32768));
        QCOMPARE(transient_bytes_per_token(Transient::layer_copy, llama, spec_of("fp16")), uint64_t(0));
        QCOMPARE(transient_bytes_per_token(Transient::layer_copy, llama, spec_of("kivi:4")), uint64_t(0));
        QVERIFY(parse_transient("layer-copy").ok());
        QVERIFY(!parse_transient("layers").ok());
    }
    void explanationHasItsFigures() {
        const std::string text = explain_published_capacity();
        for (const char* figure : {"3.20 times", "4.88 GiB", "5242880000", "3.56", "16 / 4.50", "147456"})
            QVERIFY2(text.find(figure) != std::string::npos, figure);
    }
};

QTEST_APPLESS_MAIN(TestCapacity)
#include "tst_capacity.moc"
