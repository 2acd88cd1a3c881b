// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as its users' scripts see it: exit codes, sentences, JSON keys.
#include <QTemporaryDir>
#include <QtTest>

#include "app/cli_process.h"
#include "support/default_model.h"
#include "support/golden.h"

using kvasir::test::cli;
using kvasir::test::Outcome;
using nlohmann::json;

namespace {

const QString kTiny = QString::fromStdString(kvasir::test::source_path("tests/golden/models/gguf/llama-gqa-Q4_1.gguf"));

}  // namespace

class TestCli : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

 private slots:
    void wrongUsageIsTwo() {
        for (const QStringList& arguments : {QStringList{},
                                             {"nonsense"},
                                             {"run", "--kernels", "quick"},
                                             {"eval"},
                                             {"eval", "--cache", "kivi:2", "--format", "llama-perplexity", "--trap"}}) {
            const Outcome o = cli(arguments);
            QCOMPARE(o.status, 2);
            QVERIFY(o.err.startsWith("error: "));
        }
    }
    void wrongUsageWithJsonIsADocument() {
        for (const QStringList& arguments : {QStringList{"caches", "--json", "--nonsense"},
                                             {"caches", "--nonsense", "--json"},
                                             {"run", "--kernels", "quick", "--json"},
                                             {"replay", "--json"},
                                             {"nonsense", "--json"},
                                             {"--json"}}) {
            const Outcome o = cli(arguments);
            QCOMPARE(o.status, 2);
            QVERIFY(o.err.startsWith("error: "));
            const json j = o.document();
            QVERIFY2(j.is_object() && j["error"].is_object(), o.out.constData());
            QCOMPARE(j["error"]["code"], json("usage"));
            for (const char* key : {"message", "hint", "where"})
                QVERIFY2(j["error"][key].is_string(), key);
            QCOMPARE(o.err.trimmed().mid(7), QByteArray::fromStdString(j["error"]["message"]));
        }
        QVERIFY(cli({"caches", "--nonsense"}).out.isEmpty());
    }
    void refusedSpecsAreThree() {
        for (const QStringList& arguments :
             {QStringList{"run", "--cache", "quanto:5"}, {"caches", "--spec", "kivi:2,grup=3"}}) {
            const Outcome o = cli(arguments);
            QCOMPARE(o.status, 3);
            QVERIFY(o.err.startsWith("error: "));
        }
        const Outcome o = cli({"run", "--cache", "quantoo:4", "--json"});
        QCOMPARE(o.status, 3);
        QVERIFY(o.document()["error"].contains("hint"));
        QVERIFY(QString::fromUtf8(o.err).contains("quanto:4"));
    }
    void refusedInputIsThree() {
        for (const QStringList& arguments :
             {QStringList{"inspect", "/nonexistent.gguf"},
              {"run", "--model", "/nonexistent.gguf"},
              {"eval", "--cache", "fp16", "--model", kTiny, "--text", "/nonexistent.txt"},
              {"logits", "--model", kTiny, "--ids", "1,99999"}}) {
            const Outcome o = cli(arguments + QStringList{"--quiet"});
            QVERIFY2(o.status == 3, o.err.constData());
            QVERIFY(o.err.startsWith("error: "));
            QCOMPARE(o.err.trimmed().count('\n'), 0);
        }
    }
    void aFullDiskIsFour() {
        const Outcome o = cli({"run", "--model", kTiny, "--prompt", "names", "--tokens", "2", "--cache", "fp16",
                               "--csv", "/dev/full/x.csv", "--quiet"});
        QVERIFY2(o.status == 4, o.err.constData());
    }
    void caches() {
        const json j = cli({"caches", "--json"}).document();
        QVERIFY(j.is_array());
        std::vector<std::string> names;
        for (const auto& row : j) {
            names.push_back(row["preset"]);
            for (const char* key : {"long_spec", "origin", "bits_per_value", "options"})
                QVERIFY(row.contains(key));
            // The long form is a spec of its own.
            QCOMPARE(cli({"caches", "--spec", QString::fromStdString(row["long_spec"])}).status, 0);
        }
        for (const char* name : {"fp32", "fp16", "quanto:4", "quanto:2", "hqq:8", "kivi:4", "kivi:2", "hadamard:2"})
            QVERIFY2(std::find(names.begin(), names.end(), name) != names.end(), name);
    }
    void runAndEvalDocuments() {
        const QString session = folder_.filePath("x.kvasir"), csv = folder_.filePath("x.csv");
        const Outcome run = cli({"run", "--model", kTiny, "--prompt", "the keeper wrote", "--tokens", "5", "--cache",
                                 "fp16", "--cache", "fp32", "--json", "--session", session, "--csv", csv});
        QVERIFY2(run.status == 0, run.err.constData());
        const json j = run.document();
        for (const char* key : {"kvasir", "model", "complete", "lanes", "reference"})
            QVERIFY2(j.contains(key), key);
        QCOMPARE(j["lanes"].size(), size_t(2));
        QCOMPARE(j["noise_floor"]["n"], json(5));
        QVERIFY(j["steps_per_second"].get<double>() > 0);
        for (const char* key : {"file", "sha256", "arch", "weights", "n_layers", "n_heads", "n_kv_heads", "head_dim"})
            QVERIFY2(j["model"].contains(key), key);
        QVERIFY(QFileInfo(session).size() > 0);
        QFile file(csv);
        QVERIFY(file.open(QFile::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), 11);

        const QString text = folder_.filePath("text.txt");
        QFile words(text);
        QVERIFY(words.open(QFile::WriteOnly));
        words.write(QByteArray("the keeper wrote the names in a book. ").repeated(4));
        words.close();
        const Outcome eval =
            cli({"eval", "--model", kTiny, "--text", text, "--prefill", "8", "--tokens", "20", "--cache", "fp32",
                 "--cache", "quanto:4,group=16", "--json", "--blind", "--trap", "--repeat", "2"});
        QVERIFY2(eval.status == 0, eval.err.constData());
        const json e = eval.document();
        QCOMPARE(e["protocol"]["n_scored"], json(12));
        QCOMPARE(e["protocol"]["first_scored"], json(8));
        QCOMPARE(e["lanes"][0]["spec"], json("fp16"));  // added as the reference
        for (const char* key : {"nll_mean", "ppl", "ppl_ci95", "dnll_mean", "dnll_ci95", "kl_mean", "kl_ci95",
                                "kl_median", "kl_p99", "kl_max", "top1_agreement", "rms_dp", "coverage", "bytes",
                                "bits_per_value", "tokens_per_second", "requested", "active", "why"})
            QVERIFY2(e["lanes"][1].contains(key), key);
        QCOMPARE(e["lanes"].size(), size_t(6));  // three, and each blind
        QCOMPARE(e["lanes"][1]["repeat"]["n"], json(2));
        for (const char* key : {"residual", "sink", "rotation", "packed", "score_rule"})
            QVERIFY2(e["lanes"][2].contains(key), key);
        QCOMPARE(e["trap"].size(), size_t(8));  // two schemes in four ways
        for (const auto& row : e["trap"]) {
            QCOMPARE(row["why"], json(""));
            QCOMPARE(row["n_scored"], json(12));
            QCOMPARE(row["coverage"]["k"].get<double>() > 0,
                     row["spec"] == "quanto:4,group=16" && row["protocol"] != "one blind forward");
        }
        for (const char* key : {"kl_mean", "nll_mean"})
            QVERIFY2(e["noise_floor"][key].is_number(), key);
        QCOMPARE(e["noise_floor"]["n"], json(12));

        const QStringList block{"eval",    "--model", kTiny,      "--text", text,       "--prefill",       "8",
                                "--cache", "fp32",    "--tokens", "20",     "--format", "llama-perplexity"};
        const Outcome lines = cli(block);
        QVERIFY2(lines.status == 0, lines.err.constData());
        QVERIFY(lines.out.startsWith("Kvasir scores every token after the prompt of 8 tokens"));
        QCOMPARE(lines.out.count("Same top p: "), 1);  // the reference is its own base
        QCOMPARE(cli(block + QStringList{"--json"}).status, 2);
    }
    void weightsWrittenAnew() {
        const QStringList eval{"eval",     "--model", kTiny,     "--prefill", "8",
                               "--tokens", "12",      "--cache", "fp16",      "--json"};
        const auto run = [&](const QString& weights) { return cli(eval + QStringList{"--weights", weights}); };
        const json as_is = run("as-is").document(), q4_0 = run("q4_0").document();
        QCOMPARE(as_is["model"]["weights_as_run"], json("Q4_1"));
        QCOMPARE(q4_0["model"]["weights"], json("Q4_1"));
        QCOMPARE(q4_0["model"]["weights_as_run"], json("Q4_0"));
        QVERIFY(as_is["lanes"][0]["nll_mean"] != q4_0["lanes"][0]["nll_mean"]);
        QCOMPARE(run("q5_0").status, 2);
    }
    void taskScores() {
        const QString data = folder_.filePath("data.jsonl");
        QFile file(data);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(
            "{\"input\": \"names\", \"context\": \"the keeper\", \"answers\": [\"a\", \"b\"], \"length\": 2, "
            "\"dataset\": \"triviaqa\", \"language\": \"en\", \"all_classes\": null, \"_id\": \"1\"}\n");
        file.close();
        const QStringList tasks{"tasks", "--model", kTiny, "--cache", "fp32", "--cache", "kivi:4", "--data", data};
        const Outcome o = cli(tasks + QStringList{"--task", "triviaqa", "--json", "--answers", "--max-length", "16"});
        QVERIFY2(o.status == 3, o.err.constData());  // of kivi, see below
        const json j = o.document();
        QCOMPARE(j["complete"], json(false));
        QCOMPARE(j["task"], json("triviaqa"));
        QCOMPARE(j["n"], json(1));
        QCOMPARE(j["rows"].size(), size_t(3));  // fp16 is added
        for (const char* key : {"spec", "score", "ci95", "n_empty", "answers"})
            QVERIFY2(j["rows"][1].contains(key), key);
        QVERIFY(!j["rows"][2].contains("score"));  // kivi cannot store a head of 16 channels, and says so
        QVERIFY(!j["rows"][2]["why"].get<std::string>().empty());
        QCOMPARE(cli(tasks + QStringList{"--task", "trec", "--quiet"}).status, 3);  // no classes in the data
        QCOMPARE(cli(tasks + QStringList{"--task", "nonsense"}).status, 2);
    }
    void tokenizeInspectLogits() {
        const json t = cli({"tokenize", "--model", kTiny, "--prompt", "the keeper", "--json"}).document();
        QCOMPARE(t["ids"].size(), t["pieces"].size());
        const Outcome i = cli({"inspect", kTiny, "--json"});
        QCOMPARE(i.status, 0);
        for (const char* key : {"format", "arch", "tensors", "metadata", "will_read_as", "warnings"})
            QVERIFY2(i.document().contains(key), key);
        const QStringList ids{"logits",  "--model", kTiny,    "--ids", "5,9,17,30",
                              "--cache", "fp32",    "--json", "--top", "3"};
        const json whole = cli(ids).document(), one_by_one = cli(ids + QStringList{"--decode"}).document();
        QCOMPARE(whole["position"], json(3));
        QCOMPARE(whole["top"], one_by_one["top"]);
    }
    void replayDocument() {
        const QString in = QString::fromStdString(kvasir::test::source_path("tests/golden/state/kv400.safetensors"));
        const json j =
            cli({"replay", "--in", in, "--layer", "layer5", "--cache", "kivi:2", "--prefill", "50", "--json"})
                .document();
        QCOMPARE(j["steps"].size(), size_t(350));
        for (const char* key : {"step", "k_quantized_seen", "v_quantized_seen", "k_quantized_after", "k_residual_after",
                                "v_quantized_after", "v_residual_after", "sha256_k", "sha256_v"})
            QVERIFY2(j["steps"][0].contains(key), key);
        const json golden = kvasir::test::golden_json("state/state.json");
        const json& rows = golden["schemes"]["kivi:2"]["layers"]["5"]["steps"];
        QCOMPARE(j["steps"][349]["sha256_k"].get<std::string>().substr(0, 32), rows[349][6].get<std::string>());
    }
    void replayAgainstAnEarlierDocument() {
        const QString in = QString::fromStdString(kvasir::test::source_path("tests/golden/state/kv400.safetensors"));
        const QString earlier = folder_.filePath("earlier.json"), other = folder_.filePath("other.json");
        const auto replay = [&](const QString& spec, const QStringList& more) {
            return cli(QStringList{"replay", "--in", in, "--layer", "layer5", "--cache", spec, "--prefill", "390"} +
                       more);
        };
        QCOMPARE(replay("quanto:4,residual=4", {"--out", earlier, "--quiet"}).status, 0);
        const Outcome same = replay("quanto:4,residual=4", {"--expect", earlier, "--json"});
        QVERIFY2(same.status == 0, same.err.constData());
        QCOMPARE(same.document()["expected"]["holds"], json(true));
        QVERIFY(same.document()["expected"]["differences"].empty());

        // Other bits: the same lengths, other values from the first step on.
        const Outcome bits = replay("quanto:2,residual=4", {"--expect", earlier, "--json"});
        QCOMPARE(bits.status, 1);
        const json found = bits.document()["expected"]["differences"];
        QCOMPARE(bits.document()["expected"]["holds"], json(false));
        QCOMPARE(found.size(), size_t(20));  // two hashes in ten steps
        QCOMPARE(found[0]["step"], json(1));
        QCOMPARE(found[0]["figure"], json("sha256_k"));
        QVERIFY(bits.err.contains("differs: step 10, sha256_v is "));

        // One count that is off by one, and one step that is not there.
        json wrong = same.document();
        const int seen = wrong["steps"][6]["k_quantized_seen"];
        wrong["steps"][6]["k_quantized_seen"] = seen + 1;
        wrong["steps"].erase(9);
        const auto write = [&](const json& j) {
            QFile file(other);
            return file.open(QFile::WriteOnly) && file.write(QByteArray::fromStdString(j.dump())) > 0;
        };
        QVERIFY(write(wrong));
        const Outcome one = replay("quanto:4,residual=4", {"--expect", other, "--out", folder_.filePath("mine.json")});
        QCOMPARE(one.status, 1);
        QVERIFY(one.out.isEmpty());
        QVERIFY2(one.err.contains("differs: number of steps is 10, expected 9\n"), one.err.constData());
        QVERIFY2(one.err.contains(qPrintable(
                     QString("differs: step 7, k_quantized_seen is %1, expected %2\n").arg(seen).arg(seen + 1))),
                 one.err.constData());
        QCOMPARE(one.err.count("differs: "), 2);

        wrong["steps"][2].erase("sha256_v");
        QVERIFY(write(wrong));
        for (const QString& bad : {other, in, folder_.filePath("nothing.json")}) {
            const Outcome o = replay("quanto:4,residual=4", {"--expect", bad, "--json", "--quiet"});
            QCOMPARE(o.status, 3);
            QVERIFY(o.err.startsWith("error: "));
            QCOMPARE(o.document()["error"]["where"], json(bad.toStdString()));
        }
    }
    void benchDocument() {
        const json j = cli({"bench", "--model", kTiny, "--cache", "fp16", "--cache", "fp32", "--depth", "0,16",
                            "--tokens", "3", "--prompt", "8", "--measuring", "--json", "--quiet"})
                           .document();
        QVERIFY(j["machine"]["memory_bandwidth_gbps"].get<double>() > 0);
        QCOMPARE(j["results"].size(), size_t(4));
        for (const char* key :
             {"prefill_tokens_per_second", "decode_tokens_per_second", "weight_bytes", "cache_bytes", "bytes_per_token",
              "memory_limit_tokens_per_second", "share_of_memory_limit", "roofline_tokens_per_second",
              "share_of_roofline", "time_split", "multiply_adds_per_step", "append_ms", "flushes"})
            QVERIFY2(j["results"][0].contains(key), key);
        QCOMPARE(j["prompts"].size(), size_t(2));
        QVERIFY(j["prompts"][0]["share_of_fma"].get<double>() > 0);
        QCOMPARE(j["measuring"].size(), size_t(4));
        QVERIFY(j["measuring"][0]["step_ms"].get<double>() > 0);
    }
    void benchFlushesAndRefusals() {
        const json j = cli({"bench", "--model", kTiny, "--cache", "kivi:2,group=8,residual=16", "--cache", "fp16",
                            "--depth", "40", "--tokens", "64", "--prompt", "0", "--json", "--quiet"})
                           .document();
        QCOMPARE(j["results"][0]["flushes"]["steps"].get<int>(), 4);  // of 16 tokens each
        QVERIFY(j["results"][0]["flushes"]["slowest_ms"].get<double>() > 0);
        QCOMPARE(j["results"][1]["flushes"]["steps"].get<int>(), 0);
        QVERIFY(j["prompts"].empty());
        const Outcome deep = cli({"bench", "--model", kTiny, "--cache", "fp16", "--depth", "0,100000"});
        QCOMPARE(deep.status, 2);
        QVERIFY2(deep.err.contains("--depth 100000"), deep.err.constData());
    }
    void selftestHolds() {
        KVASIR_NEEDS_MODEL(path);
        const Outcome o = cli({"selftest", "--model", QString::fromStdString(path), "--json", "--quiet"});
        QVERIFY2(o.status == 0, o.out.constData());
        for (const auto& law : o.document()["laws"])
            QVERIFY(law["holds"].get<bool>());
    }
};

QTEST_APPLESS_MAIN(TestCli)
#include "tst_cli.moc"
