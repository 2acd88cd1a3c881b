// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QTest>

#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "support/default_model.h"
#include "support/gguf_writer.h"

using namespace kvasir;
using test::GgufWriter;

class TestModelConfig : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

    Result<ModelConfig> read(const GgufWriter& writer) {
        const QString path = dir_.filePath("t.gguf");
        if (!writer.write(path)) return Error{ErrorCode::disk, "not written", "", "", ""};
        const auto file = GgufFile::open(path.toStdString());
        if (!file) return file.error();
        return read_model_config(**file);
    }
    template <class Change>
    QString refusal(Change&& change) {
        GgufWriter writer = GgufWriter::tiny_llama();
        change(writer);
        const auto config = read(writer);
        return config ? QString() : QString::fromStdString(config.error().message());
    }

 private slots:
    void default_model() {
        KVASIR_NEEDS_MODEL(model);
        const auto file = GgufFile::open(model);
        QVERIFY(file.ok());
        const auto config = read_model_config(**file);
        QVERIFY(config.ok());
        QCOMPARE(config->n_layers, 30);
        QCOMPARE(config->n_heads, 9);
        QCOMPARE(config->n_kv_heads, 3);
        QCOMPARE(config->head_dim, 64);
        QCOMPARE(config->n_embd, 576);
        QCOMPARE(config->n_ff, 1536);
        QCOMPARE(config->n_vocab, 49152);
        QCOMPARE(config->context_length, 8192);
        QCOMPARE(config->rms_eps, 1e-5f);
        QCOMPARE(config->rope_base, 100000.0);
        QCOMPARE(config->rope_scale, 1.0);
        QCOMPARE(config->weights, std::string("Q4_1"));
        QVERIFY(config->tied && !config->has_rope_freqs && config->warnings.empty());
    }

    void golden_models_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"})
            QTest::newRow(type) << type;
    }
    void golden_models() {
        QFETCH(QString, type);
        const QString path = QString(KVASIR_SOURCE_DIR "/tests/golden/models/gguf/llama-gqa-%1.gguf").arg(type);
        const auto file = GgufFile::open(path.toStdString());
        QVERIFY(file.ok());
        const auto config = read_model_config(**file);
        QVERIFY2(config.ok(), config.ok() ? "" : config.error().message().c_str());
        QCOMPARE(config->n_heads, 4);
        QCOMPARE(config->n_kv_heads, 2);
        QCOMPARE(config->head_dim, 16);
        QCOMPARE(QString::fromStdString(config->weights), type);
        QVERIFY(!config->tied);
    }

    void keys_are_read() {
        GgufWriter w = GgufWriter::tiny_llama();
        QVERIFY(read(w).ok());
        QCOMPARE(read(w)->rope_base, 10000.0);
        w.set("llama.rope.freq_base", 5e5f);
        w.set("llama.rope.scaling.type", "linear");
        w.set("llama.rope.scaling.factor", 4.0f);
        w.set("general.name", "tiny\n");
        w.tensor("output.weight", {16, 12});
        w.tensor("rope_freqs.weight", {4}, 2);
        w.tensor("blk.0.attn_q.bias", {16});
        const auto config = read(w);
        QVERIFY(config.ok());
        QCOMPARE(config->rope_base, 5e5);
        QCOMPARE(config->rope_scale, 0.25);
        QCOMPARE(config->name, std::string("tiny\xEF\xBF\xBD"));
        QVERIFY(!config->tied && config->has_rope_freqs && config->warnings.empty());
        w.set("llama.rope.scaling.type", "none");
        QCOMPARE(read(w)->rope_scale, 1.0);
    }

    void head_size_may_differ_from_the_quotient() {
        GgufWriter w = GgufWriter::tiny_llama();
        w.set("llama.attention.key_length", 12u);
        w.set("llama.attention.value_length", 12u);
        w.tensor("blk.0.attn_q.weight", {16, 24});
        w.tensor("blk.0.attn_k.weight", {16, 12});
        w.tensor("blk.0.attn_v.weight", {16, 12});
        w.tensor("blk.0.attn_output.weight", {24, 16});
        const auto config = read(w);
        QVERIFY2(config.ok(), config.ok() ? "" : config.error().message().c_str());
        QCOMPARE(config->head_dim, 12);
    }

    void angles_that_are_no_numbers_are_refused() {
        const auto scaled = [](float base, float factor) {
            return [=](auto& w) {
                w.set("llama.rope.freq_base", base);
                w.set("llama.rope.scaling.factor", factor);
            };
        };
        QVERIFY(refusal(scaled(10000, 1e-40f)).contains("angles"));
        QVERIFY(refusal(scaled(1e-38f, 1e-9f)).contains("angles"));
        QVERIFY(refusal(scaled(3e38f, 8)).isEmpty());
    }

    void odd_things_are_warnings() {
        GgufWriter w = GgufWriter::tiny_llama();
        w.set("llama.vocab_size", 13u);
        w.set("llama.attention.sliding_window", 8u);
        w.tensor("extra.thing", {8});
        const auto config = read(w);
        QVERIFY(config.ok());
        QCOMPARE(config->warnings.size(), size_t(3));
    }

    void what_would_change_the_numbers_is_refused() {
        QVERIFY(
            refusal([](auto& w) { w.set("split.no", 1u), w.set("split.count", 4u); }).contains("this is part 2 of 4"));
        QVERIFY(refusal([](auto& w) { w.set("general.type", "adapter"); }).contains("not a language model"));
        QVERIFY(
            refusal([](auto& w) { w.set("general.architecture", "qwen2"); }).contains("\"qwen2\" is not supported"));
        QVERIFY(
            refusal([](auto& w) { w.set("llama.rope.scaling.type", "yarn"); }).contains("\"yarn\" is not supported"));
        QVERIFY(
            refusal([](auto& w) { w.set("llama.rope.scaling.factor", -1.0f); }).contains("is not a positive number"));
        QVERIFY(refusal([](auto& w) { w.set("llama.rope.freq_base", 0.0f); }).contains("is not a positive number"));
        QVERIFY(refusal([](auto& w) { w.set("llama.expert_count", 8u); }).contains("mixture of 8 experts"));
        QVERIFY(refusal([](auto& w) { w.set("llama.attention.value_length", 12u); }).contains("differ"));
        QVERIFY(refusal([](auto& w) { w.set("llama.attention.scale", 0.5f); }).contains("llama.attention.scale"));
        QVERIFY(refusal([](auto& w) { w.set("llama.final_logit_softcapping", 30.0f); }).contains("softcapping"));
        QVERIFY(refusal([](auto& w) {
                    w.set("llama.feed_forward_length", std::vector<int32_t>{24});
                }).contains("has type array, an integer was expected"));
        QVERIFY(refusal([](auto& w) { w.tensor("rope_freqs.weight", {4}, 0); }).contains("is not positive"));
        QVERIFY(refusal([](auto& w) { w.tensor("rope_freqs.weight", {8}); }).contains("has shape [8], expected [4]"));
        QVERIFY(refusal([](auto& w) { w.tensor("blk.0.attn_qkv.weight", {16, 32}); }).contains("fused"));
        QVERIFY(refusal([](auto& w) { w.tensor("blk.0.ffn_up.bias", {16}); }).contains("expected [24]"));
    }
};

QTEST_APPLESS_MAIN(TestModelConfig)
#include "tst_model_config.moc"
