// SPDX-License-Identifier: GPL-3.0-or-later
// The analysis commands as their users' scripts see them.
#include <QTemporaryDir>
#include <QtTest>

#include "app/cli_process.h"
#include "core/base/safetensors.h"
#include "core/cache/cache_spec.h"
#include "support/default_model.h"
#include "support/golden.h"

using namespace kvasir;
using namespace kvasir::test;
using nlohmann::json;

namespace {

const QString kTiny = QString::fromStdString(golden_path("models/gguf/llama-gqa-Q8_0.gguf"));

QByteArray bytes_of(const TensorView& view) {
    return {reinterpret_cast<const char*>(view.data), qsizetype(view.n_elements * bytes_per_element(view.type))};
}

SafetensorsFile tensors_of(const QString& path) {
    return SafetensorsFile::open(path.toStdString()).value();
}

}  // namespace

class TestAnalysis : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

 private slots:
    void capacity() {
        const QStringList arguments{"capacity", "--shape", "Llama-2-7B", "--memory", "80GiB",  "--cache",
                                    "fp16",     "--cache", "quanto:4",   "--cache",  "kivi:2", "--json"};
        const Outcome o = cli(arguments);
        QVERIFY2(o.status == 0, o.err.constData());
        const json j = o.document();
        QCOMPARE(j["shape"], json("llama-2-7b"));
        QCOMPARE(j["memory_bytes"], json(uint64_t(80) << 30));
        QCOMPARE(j["rows"].size(), size_t(3));
        for (const json& row : j["rows"])
            for (const char* key : {"spec", "bytes_per_token", "fixed_bytes", "max_context"})
                QVERIFY2(row.contains(key), key);
        QCOMPARE(j["rows"][1]["bytes_per_token"].get<double>(), 147456.0);
        // Four bits per weight leave more for the cache.
        const json light = cli(arguments + QStringList{"--weights-bits", "4"}).document();
        QVERIFY(light["rows"][0]["max_context"] > j["rows"][0]["max_context"]);

        const Outcome file = cli({"capacity", "--model", kTiny, "--memory", "1GB", "--json"});
        QVERIFY2(file.status == 0, file.err.constData());
        QVERIFY(file.document()["rows"].size() > 5);
        const Outcome table = cli({"capacity", "--shape", "mistral-7b", "--memory", "24000MiB", "--explain"});
        QCOMPARE(table.status, 0);
        QVERIFY(table.out.contains("40k against 128k"));
    }
    void capacityRefusals() {
        for (const QStringList& arguments : {QStringList{"--shape", "llama-2-7b"},
                                             {"--memory", "80GiB"},
                                             {"--shape", "llama-2-7b", "--memory", "80"},
                                             {"--shape", "llama-2-7b", "--memory", "much"},
                                             {"--shape", "llama-9-7b", "--memory", "80GiB"},
                                             {"--shape", "llama-2-7b", "--memory", "80GiB", "--transients", "x"}}) {
            const Outcome o = cli(QStringList{"capacity"} + arguments);
            QCOMPARE(o.status, 2);
            QVERIFY(o.err.startsWith("error: "));
            QCOMPARE(o.err.trimmed().count('\n'), 0);
        }
        QCOMPARE(cli({"capacity", "--model", "/nonexistent.gguf", "--memory", "1GB"}).status, 3);
    }
    void quantizeEqualsTheOriginal() {
        const QString kv = QString::fromStdString(golden_path("tensors/kv.safetensors"));
        const SafetensorsFile golden = SafetensorsFile::open(golden_path("tensors/codecs.safetensors")).value();
        const QString out = folder_.filePath("quantized.safetensors");
        struct Row {
            const char *spec, *tensor, *side, *golden, *zero, *tokens;
        };
        for (const Row& row : {Row{"quanto:4", "layer5.k", "k", "quanto4.axis0.g64", "shift", "128"},
                               Row{"quanto:4", "layer5.v", "v", "quanto4.axis0.g64", "shift", "128"},
                               Row{"kivi:2", "layer5.k", "k", "kivi2.g32", "mn", "128"}}) {
            const Outcome o = cli({"quantize", "--in", kv, "--tensor", row.tensor, "--side", row.side, "--cache",
                                   row.spec, "--tokens", row.tokens, "--out", out, "--json"});
            QVERIFY2(o.status == 0, o.err.constData());
            const SafetensorsFile mine = tensors_of(out);
            QCOMPARE(mine.tensors().size(), size_t(5));
            for (const auto& [field, original] : {std::pair<const char*, const char*>{"codes", "codes"},
                                                  {"packed", "packed"},
                                                  {"scale", "scale"},
                                                  {"zero", row.zero},
                                                  {"dequantized", "dequantized"}}) {
                const std::string name = std::string(row.golden) + "/" + row.tensor + "/" + original;
                QVERIFY2(bytes_of(mine.tensor(field).value()) == bytes_of(golden.tensor(name).value()), name.c_str());
            }
        }
        for (const auto& [status, arguments] :
             {std::pair{3, QStringList{"--tensor", "layer7.k", "--side", "k", "--cache", "quanto:4", "--out", out}},
              {2, {"--tensor", "layer5.k", "--side", "q", "--cache", "quanto:4", "--out", out}},
              {2, {"--tensor", "layer5.k", "--side", "k", "--cache", "fp16", "--out", out}},
              {2, {"--tensor", "layer5.k", "--side", "k", "--cache", "kivi:2", "--out", out, "--tokens", "999"}},
              {4, {"--tensor", "layer5.k", "--side", "k", "--cache", "kivi:2", "--out", "/dev/full/x"}}}) {
            const Outcome o = cli(QStringList{"quantize", "--in", kv} + arguments);
            QVERIFY2(o.status == status, o.err.constData());
            QCOMPARE(o.err.trimmed().count('\n'), 0);
        }
    }
    void recordFeedsReplayAndQuantize() {
        const QString out = folder_.filePath("recording.safetensors");
        const Outcome o =
            cli({"record", "--model", kTiny, "--tokens", "48", "--layers", "0,1", "--out", out, "--json", "--quiet"});
        QVERIFY2(o.status == 0, o.err.constData());
        const SafetensorsFile file = tensors_of(out);
        for (const char* name : {"layer0.k", "layer0.v", "layer0.k_before_rope", "layer1.q"})
            QVERIFY2(file.tensor(name).ok(), name);
        QCOMPARE(file.tensor("layer1.k")->shape, (std::vector<int64_t>{2, 48, 16}));
        QCOMPARE(file.tensor("layer1.q")->shape, (std::vector<int64_t>{4, 48, 16}));
        QVERIFY(file.tensor("layer1.q")->type == TensorType::f32);

        const Outcome replay = cli(
            {"replay", "--in", out, "--layer", "layer1", "--cache", "quanto:4,group=16", "--prefill", "20", "--json"});
        QVERIFY2(replay.status == 0, replay.err.constData());
        QCOMPARE(replay.document()["steps"].size(), size_t(28));
        const QString codes = folder_.filePath("codes.safetensors");
        QCOMPARE(cli({"quantize", "--in", out, "--tensor", "layer0.v", "--side", "v", "--cache", "quanto:4,group=16",
                      "--out", codes, "--quiet"})
                     .status,
                 0);
        QCOMPARE(tensors_of(codes).tensor("codes")->shape, (std::vector<int64_t>{2, 48, 16}));
        for (const QStringList& arguments : {QStringList{"--tokens", "48", "--layers", "2"},
                                             {"--tokens", "48", "--layers", "1,1"},
                                             {"--tokens", "9999999", "--layers", "0"}})
            QCOMPARE(cli(QStringList{"record", "--model", kTiny, "--out", out, "--quiet"} + arguments).status, 3);
    }
    void distribution() {
        const QStringList base{"distribution", "--model",           kTiny,      "--layer", "1",      "--side", "v",
                               "--cache",      "quanto:2,group=16", "--tokens", "64",      "--quiet"};
        const Outcome o = cli(base + QStringList{"--json"});
        QVERIFY2(o.status == 0, o.err.constData());
        const json j = o.document();
        for (const char* key : {"kvasir", "model", "text", "spec", "layer", "side", "bins", "n_tokens", "n_quantized"})
            QVERIFY2(j.contains(key), key);
        for (const char* when : {"before", "after"}) {
            for (const char* key : {"kurtosis", "max_over_sigma", "mse", "sqnr_db"})
                QVERIFY2(j[when][key].is_number(), key);
            size_t sum = 0;
            for (const auto& n : j[when]["histogram"])
                sum += n.get<size_t>();
            QCOMPARE(sum, size_t(64 * 2 * 16));
        }
        QCOMPARE(j["mse"], j["before"]["mse"]);  // quanto does not rotate
        QVERIFY(j["before"]["mse"] != j["after"]["mse"]);
        const json head = cli(base + QStringList{"--json", "--head", "1"}).document();
        QVERIFY(head["mse"] != j["mse"]);
        QVERIFY(cli(base).out.contains("kurtosis"));
        QCOMPARE(cli(base + QStringList{"--head", "2"}).status, 3);
    }
    void sweep() {
        const QStringList arguments{"sweep",  "--model",       kTiny,     "--k",      "fp16,quanto:4,kivi:2",
                                    "--v",    "fp16,quanto:2", "--group", "16",       "--residual",
                                    "8,16",   "--prefill",     "16",      "--tokens", "72",
                                    "--quiet"};
        const Outcome o = cli(arguments + QStringList{"--json"});
        QVERIFY2(o.status == 0, o.err.constData());
        const json j = o.document();
        QVERIFY(j["complete"].get<bool>());
        QCOMPARE(j["protocol"]["n_scored"], json(56));
        // fp16 x fp16 once; kivi:2 with a residual of 8 behind groups of 16 is none.
        QCOMPARE(j["rows"].size(), size_t(9));
        QCOMPARE(j["refused"].size(), size_t(2));
        QVERIFY(j["refused"][0]["why"].get<std::string>().find("multiple of the group") != std::string::npos);
        for (const json& row : j["rows"]) {
            for (const char* key : {"spec", "bytes_per_token", "kl_mean", "dnll_mean", "on_pareto_front"})
                QVERIFY2(row.contains(key), key);
            bool beaten = false;
            for (const json& other : j["rows"])
                beaten |= other["bytes_per_token"] <= row["bytes_per_token"] && other["kl_mean"] <= row["kl_mean"] &&
                          (other["bytes_per_token"] < row["bytes_per_token"] || other["kl_mean"] < row["kl_mean"]);
            QCOMPARE(row["on_pareto_front"].get<bool>(), !beaten);
        }
        QCOMPARE(j["rows"][0]["spec"], json("fp16"));
        QCOMPARE(j["rows"][0]["kl_mean"], json(0.0));
        QVERIFY(cli(arguments).out.contains("Pareto"));
        QCOMPARE(cli({"sweep", "--model", kTiny, "--k", "quanto:5", "--v", "fp16", "--quiet"}).status, 2);
    }
    void attribute() {
        QCOMPARE(cli({"attribute", "--model", kTiny, "--cache", "fp16", "--quiet"}).status, 3);
        QCOMPARE(
            cli({"attribute", "--model", kTiny, "--cache", "quanto:4,group=16", "--layers", "2", "--quiet"}).status, 3);
        const Outcome o = cli({"attribute", "--model", kTiny, "--cache", "quanto:2,group=16", "--prefill", "16",
                               "--tokens", "40", "--json", "--quiet"});
        QVERIFY2(o.status == 0, o.err.constData());
        const json j = o.document();
        QCOMPARE(j["rows"].size(), size_t(4));
        for (const json& row : j["rows"]) {
            for (const char* key : {"layer", "side", "only_this", "all_but_this"})
                QVERIFY2(row.contains(key), key);
            QVERIFY(row["only_this"]["kl_mean"].get<double>() > 0);
            QVERIFY(row["only_this"]["kl_mean"] < j["all"]["kl_mean"]);
        }
    }
};

QTEST_APPLESS_MAIN(TestAnalysis)
#include "tst_analysis.moc"
