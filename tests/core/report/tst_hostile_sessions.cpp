// SPDX-License-Identifier: GPL-3.0-or-later
// Session files that somebody edited: each is refused by the key that is wrong, or opens and can be reported.
#include <fmt/format.h>

#include <QTemporaryDir>
#include <fstream>

#include "core/base/read_file.h"
#include "core/report/csv.h"
#include "core/session/hostile.h"
#include "core/session/run_fixture.h"
#include "core/session/session_file.h"

using namespace kvasir;
using namespace kvasir::test;
using nlohmann::json;

class TestHostileSessions : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
    std::string small() const { return *read_file(source_path("tests/core/session/small.kvasir")); }

    /// The refusal of a file with these bytes, "" when it opens.
    std::string refusal(const std::string& bytes) const {
        std::ofstream(path("x.kvasir"), std::ios::binary) << bytes;
        const auto loaded = load_session(path("x.kvasir"));
        return loaded ? "" : loaded.error().message();
    }
    std::string refusal(const char* at, const json& value) const {
        json j = json::parse(small());
        j[json::json_pointer(at)] = value;
        return refusal(j.dump());
    }

 private slots:
    void theSmallSessionOpens() {
        QCOMPARE(refusal(small()), std::string());
        json j = json::parse(small());
        j["unknown"] = {{"of", "a newer version"}};
        QCOMPARE(refusal(j.dump()), std::string());
    }

    void everyValueIsRefusedByNameOrCanBeReported() {
        int refused = 0, opened = 0, unnamed = 0;
        each_hostile(json::parse(small()), [&](const std::string& at, const json& j) {
            const auto session = session_from_json(j, "F");
            if (!session) {
                ++refused;
                // the last key of the place, or what stands around it, is named
                const std::string message = session.error().message();
                std::string key = at.substr(0, at.find(' '));
                bool named = false;
                while (!named && !key.empty()) {
                    const size_t slash = key.rfind('/');
                    const std::string last = key.substr(slash + 1);
                    named = message.find(last) != std::string::npos &&
                            last.find_first_not_of("0123456789") != std::string::npos;
                    key.resize(slash);
                }
                if (!named) {
                    qWarning("%s: %s", at.c_str(), message.substr(0, 300).c_str());
                    ++unnamed;
                }
                return;
            }
            ++opened;
            const RunModel& run = session->run;
            if (run.empty()) return;
            for (int lane = 0; lane < run.n_lanes(); ++lane)
                run.summary(lane);
            run.noise_floor(), run.steps_per_second(), run.text_ids();
            if (per_token_csv(run).empty()) qFatal("no table");
            // what opens can be saved and opened again
            if (const auto again = session_from_json(json::parse(session_to_json(*session).dump()), "F"); !again)
                qFatal("%s: %s", at.c_str(), again.error().message().c_str());
        });
        QCOMPARE(unnamed, 0);
        QVERIFY2(refused > 2000 && opened > 100, fmt::format("{} refused, {} opened", refused, opened).c_str());
    }

    void saysWhatIsWrong_data() {
        QTest::addColumn<QString>("at");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* at, const char* value, const char* says) {
            QTest::newRow(at) << at << value << says;
        };
        row("/experiment/n_tokens", "2000000000", "experiment.n_tokens: 2000000000 is not between 0 and");
        row("/experiment/lanes/1/spec", "\"nonsense:9\"", "experiment.lanes[1].spec");
        row("/experiment/threads", "-1", "experiment.threads: -1");
        row("/experiment/prompt", "\"a\\u0000b\"", "experiment.prompt: it holds zero bytes");
        row("/experiment/mode", "\"fast\"", "experiment.mode: \"fast\" is neither");
        row("/experiment/reference", "99", "experiment.reference: 99");
        row("/run", "5", "run: 5 is not an object");
        row("/run/n_layers", "1000000000", "run.n_layers");
        row("/run/lanes/1/records/position/2", "-1", "run.lanes[1].records.position, row 2: -1");
        row("/run/lanes/1/records/kl/1", "\"x\"", "run.lanes[1].records.kl, row 1: \"x\" is not a number");
        row("/run/lanes/1/records/kl/0", "1e308", "run.lanes[1].records.kl, row 0");
        row("/run/lanes/1/records/kl/2", "-5", "run.lanes[1].records.kl, row 2: -5");
        row("/run/lanes/1/records/nll/2", "-1", "run.lanes[1].records.nll, row 2: -1");
        row("/run/lanes/1/records/margin/0", "-1", "run.lanes[1].records.margin, row 0: -1");
        row("/run/lanes/0/records/step/1", "0", "run.lanes[0].records.step, row 1: step 0 comes after step 0");
        row("/run/lanes/0/records/token_id/0", "null", "run.lanes[0].records.token_id, row 0: null");
        row("/run/lanes/1/records/rank", "[]", "run.lanes[1].records.rank: 0 rows");
        row("/run/lanes/0/records/top/0", "[]", "run.lanes[0].records.top, row 0");
        row("/run/pieces", "{\"abc\": \"zz\"}", "run.pieces: \"abc\" is no token id");
        row("/run/pieces", "{\"1\": \"zz\"}", "run.pieces.1: it is not hexadecimal");
        row("/kvasir_session", "999", "version 999, this program reads up to 1. Use a newer Kvasir");
        row("/kvasir_session", "1000000000000000000", "version 1000000000000000000");
        row("/kvasir_session", "\"x\"", "kvasir_session: \"x\"");
        row("/kvasir_session", "0", "kvasir_session: 0");
    }
    void saysWhatIsWrong() {
        QFETCH(QString, at);
        QFETCH(QString, value);
        QFETCH(QString, says);
        const std::string message = refusal(at.toUtf8().constData(), json::parse(value.toStdString()));
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }

    void missingFiguresStayMissing() {
        json j = json::parse(small());
        j["run"]["lanes"][1]["records"]["kl"][1] = nullptr;
        const auto session = session_from_json(j, "F");
        QVERIFY(session.ok());
        QVERIFY(std::isnan(session->run.lane(1)[1].kl));
    }

    void isStrictAboutJson() {
        const std::string whole = small();
        const auto says = [&](const std::string& bytes, const char* words) {
            const std::string message = refusal(bytes);
            if (message.find(words) == std::string::npos) qFatal("'%s' lacks '%s'", message.c_str(), words);
        };
        says("", "it is empty");
        says("[]", "an array is JSON, but no session");
        says("[1,2]", "an array is JSON, but no session");
        says("\"x\"", "\"x\" is JSON, but no session");
        says("null", "null is JSON, but no session");
        says("{}", "it has no key kvasir_session");
        says("{\"kvasir_session\":1}", "experiment: it is missing");
        says("GGUF", "it is not JSON");
        says(std::string(1000, '\0'), "it is not JSON");
        says("{\"kvasir_session\":1,\"kvasir_session\":1}", "the key \"kvasir_session\" stands twice");
        says("{\"kvasir_session\":NaN}", "it is not JSON");
        says("{\"kvasir_session\":1e999}", "it is not JSON");
        says("{\"kvasir_session\":1,\"experiment\":{\"prompt\":\"\\ud800\"}}", "it is not JSON");
        says("{\"kvasir_session\":1,\"experiment\":\"\xff\xfe\"}", "it is not JSON");
        says(std::string(200000, '['), "nested more than 64 levels deep");
        std::string deep;
        for (int i = 0; i < 100000; ++i)
            deep += "{\"a\":";
        says(deep, "nested more than 64 levels deep");
        for (size_t cut = 0; cut + 2 < whole.size(); cut += 1 + whole.size() / 500)
            if (refusal(whole.substr(0, cut)).empty()) qFatal("half a file opened");
    }

    void hugeSeriesAreBounded() {
        json j = json::parse(small());
        json& errors = j["run"]["lanes"][0]["records"]["attention_error"][0];
        errors = json::array();
        for (int i = 0; i < 1000000; ++i)
            errors.push_back(1.0);
        QVERIFY(refusal(j.dump()).find("attention_error, row 0") != std::string::npos);
        j = json::parse(small());
        for (int i = 0; i < 40; ++i)
            j["experiment"]["lanes"].push_back({{"spec", "fp16"}});
        QVERIFY(refusal(j.dump()).find("experiment.lanes") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestHostileSessions)
#include "tst_hostile_sessions.moc"
