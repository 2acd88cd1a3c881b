// SPDX-License-Identifier: GPL-3.0-or-later
// Reading back what bench wrote: every number, and a refusal that names file, row and key.
#include <QtTest>
#include <fstream>

#include "core/report/bench_document.h"
#include "support/bench_sample.h"

using namespace kvasir;
using nlohmann::json;

class TestBenchDocument : public QObject {
    Q_OBJECT
    static json sample() { return test::bench_sample("Q4_1", {"fp16", "quanto:4"}, {0, 100}, {2}); }
    static std::string refusal(const std::string& text) {
        const auto document = parse_bench_document(text, "speed.json");
        return document ? "accepted" : document.error().message();
    }

 private slots:
    void everyNumberIsRead() {
        const auto document = parse_bench_document(sample().dump(), "speed.json");
        QVERIFY2(document.ok(), document ? "" : document.error().message().c_str());
        QCOMPARE(document->file, std::string("speed.json"));
        QCOMPARE(document->model_file, std::string("/models/Sample-1M.Q4_1.gguf"));
        QCOMPARE(document->file_weights, std::string("Q4_1"));
        QCOMPARE(document->weights, std::string("Q4_1"));
        QCOMPARE(document->version, std::string("9.8.7"));
        QCOMPARE(document->kernels, std::string("fused, AVX2"));
        QCOMPARE(document->threads, 2);
        QCOMPARE(document->bandwidth_gbps, 10.0);
        QCOMPARE(document->fma_gflops, 40.0);
        QVERIFY(document->date.empty() && document->commit.empty());
        QCOMPARE(document->rows.size(), size_t(5));
        const BenchMeasurement& m = document->rows[2];
        QCOMPARE(m.spec, std::string("fp16"));
        QCOMPARE(m.depth, 100);
        QCOMPARE(m.lanes, 1);
        QCOMPARE(m.median, 49.0);
        QCOMPARE(m.min, 49.0 * 0.9);
        QCOMPARE(m.max, 49.0 * 1.1);
        QCOMPARE(m.roofline, 89.0);
        QCOMPARE(m.weight_bytes, 104857600.0);
        QCOMPARE(m.cache_bytes, 111 * 22.5 * 1024);
        QCOMPARE(m.n_cached, 111.0);
        QCOMPARE(m.intensity(), 2e8 / (104857600.0 + 111 * 22.5 * 1024));
        QCOMPARE(m.gflops(), 2e8 * 49 / 1e9);
        QCOMPARE(m.split.scores, 2e6);
        QCOMPARE(m.split.total(), 13.75e6);
        QCOMPARE(document->rows[4].lanes, 2);
        QCOMPARE(document->rows[4].n_cached, 11.0);
    }
    void lanesOfOneSpecAreThatSpec() {
        json j = sample();
        j["results"][4]["spec"] = "fp16 | fp16 | fp16";
        QCOMPARE(parse_bench_document(j.dump(), "f")->rows[4].spec, std::string("fp16"));
        j["results"][4]["spec"] = "kivi:2 | quanto:4,k=kivi:2 | kivi:2";
        QCOMPARE(parse_bench_document(j.dump(), "f")->rows[4].spec, std::string("kivi:2 + quanto:4,k=kivi:2"));
    }
    void dateAndCommitWhereTheDocumentHasThem() {
        json j = sample();
        j["date"] = "2026-01-02";
        j["kvasir"]["commit"] = "0123abc";
        const auto document = parse_bench_document(j.dump(), "f");
        QCOMPARE(document->date, std::string("2026-01-02"));
        QCOMPARE(document->commit, std::string("0123abc"));
    }
    void aMissingKeyIsNamedWithFileAndRow() {
        for (const char* key :
             {"spec", "depth", "lanes", "decode_tokens_per_second", "weight_bytes", "cache_bytes", "bytes_per_token",
              "multiply_adds_per_step", "roofline_tokens_per_second", "time_split"}) {
            json j = sample();
            j["results"][2].erase(key);
            const std::string message = refusal(j.dump());
            QVERIFY2(message.find("speed.json: row 3 has no \"" + std::string(key) + "\"") != std::string::npos,
                     message.c_str());
        }
        for (const auto& [object, key] :
             {std::pair("decode_tokens_per_second", "median"), std::pair("decode_tokens_per_second", "max"),
              std::pair("time_split", "rotate")}) {
            json j = sample();
            j["results"][1][object].erase(key);
            const std::string message = refusal(j.dump());
            QVERIFY2(message.find("row 2, " + std::string(object) + " has no \"" + key + "\"") != std::string::npos,
                     message.c_str());
        }
        for (const auto& [object, key] :
             {std::pair("machine", "fma_gflops"), std::pair("machine", "memory_bandwidth_gbps"),
              std::pair("machine", "threads"), std::pair("model", "weights_as_run"), std::pair("kvasir", "kernels")}) {
            json j = sample();
            j[object].erase(key);
            const std::string message = refusal(j.dump());
            QVERIFY2(
                message.find("speed.json: " + std::string(object) + " has no \"" + key + "\"") != std::string::npos,
                message.c_str());
            j.erase(object);
            QVERIFY(refusal(j.dump()).find("it has no \"" + std::string(object) + "\"") != std::string::npos);
        }
    }
    void numbersThatCannotBeDrawnAreRefused() {
        const std::vector<std::pair<const char*, json>> wrong{{"weight_bytes", 0},
                                                              {"cache_bytes", "many"},
                                                              {"multiply_adds_per_step", -1},
                                                              {"depth", 1.5},
                                                              {"lanes", 0},
                                                              {"bytes_per_token", nullptr},
                                                              {"spec", 4},
                                                              {"roofline_tokens_per_second", 0},
                                                              {"time_split", json::array()}};
        for (const auto& [key, value] : wrong) {
            json j = sample();
            j["results"][0][key] = value;
            const std::string message = refusal(j.dump());
            QVERIFY2(message.find("row 1: \"" + std::string(key) + "\" is ") != std::string::npos, message.c_str());
        }
    }
    void whatIsNoDocumentIsRefused() {
        QVERIFY(refusal("").find("it is not JSON") != std::string::npos);
        QVERIFY(refusal("{\"results\": [").find("it is not JSON") != std::string::npos);
        QVERIFY(refusal("[1, 2]").find("not a document of bench") != std::string::npos);
        QVERIFY(refusal("{\"error\": {\"code\": \"input\"}}").find("it has no \"kvasir\"") != std::string::npos);
        json j = sample();
        j["results"] = json::array();
        QVERIFY(refusal(j.dump()).find("\"results\" has no rows") != std::string::npos);
        j["results"] = json::array({7});
        QVERIFY(refusal(j.dump()).find("row 1 is not an object") != std::string::npos);
        j.erase("results");
        QVERIFY(refusal(j.dump()).find("no list \"results\"") != std::string::npos);
        QCOMPARE(parse_bench_document("", "f").error().code, ErrorCode::input);
    }
    void filesAreRead() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("bench.json")).toStdString();
        std::ofstream(path) << sample().dump();
        QCOMPARE(read_bench_document(path)->rows.size(), size_t(5));
        const auto missing = read_bench_document(path + ".not");
        QVERIFY(!missing.ok());
        QVERIFY(missing.error().message().find("bench.json.not") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestBenchDocument)
#include "tst_bench_document.moc"
