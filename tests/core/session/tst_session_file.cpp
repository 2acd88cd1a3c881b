// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>

#include "core/base/output.h"
#include "core/base/read_file.h"
#include "core/session/run_fixture.h"
#include "core/session/session_file.h"

using namespace kvasir;
using namespace kvasir::test;

class TestSessionFile : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
    void everythingSurvives() {
        Session session;
        session.experiment = experiment({"fp16", "fp32", "quanto:4,residual=32"}, 7);
        session.experiment.lanes[2].enabled = false;
        session.experiment.sampling = {0.5f, 40, 0.9f, 123};
        session.run = carry_out(tiny_model(), session.experiment);
        session.extra = {{"view", {{"theme", "dark"}}}, {"from_the_future", 7}};
        QVERIFY(save_session(session, path("a.kvasir")).ok());
        const auto loaded = load_session(path("a.kvasir"));
        QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().message().c_str());
        QVERIFY(loaded->experiment == session.experiment);
        QCOMPARE(loaded->extra["from_the_future"], nlohmann::json(7));
        QCOMPARE(loaded->extra["view"]["theme"], nlohmann::json("dark"));
        for (int lane = 0; lane < 3; ++lane) {
            QCOMPARE(loaded->run.lane(lane).size(), session.run.lane(lane).size());
            for (size_t i = 0; i < session.run.lane(lane).size(); ++i) {
                const StepRecord &a = session.run.lane(lane)[i], &b = loaded->run.lane(lane)[i];
                QCOMPARE(b.token_id, a.token_id);
                QCOMPARE(b.nll, a.nll);
                QCOMPARE(b.kl, a.kl);
                QCOMPARE(b.time.matmul, a.time.matmul);
                QVERIFY(b.bytes == a.bytes);
                QVERIFY(b.top == a.top);
                QCOMPARE(b.attention_error, a.attention_error);
                QCOMPARE(loaded->run.piece_of(b.token_id), session.run.piece_of(a.token_id));
            }
        }
        QCOMPARE(loaded->run.summary(1).kl_mean, session.run.summary(1).kl_mean);
        // Saving what was loaded changes nothing.
        QVERIFY(save_session(*loaded, path("b.kvasir")).ok());
        QCOMPARE(*read_file(path("b.kvasir")), *read_file(path("a.kvasir")));
    }
    void damagedFilesAreRefused() {
        Session session;
        session.experiment = experiment({"fp16"}, 3);
        session.run = carry_out(tiny_model(), session.experiment);
        QVERIFY(save_session(session, path("whole.kvasir")).ok());
        const std::string whole = *read_file(path("whole.kvasir"));
        for (const size_t cut : {size_t(0), size_t(1), whole.size() / 3, whole.size() - 3}) {
            QVERIFY(write_output(path("cut.kvasir"), whole.substr(0, cut)).ok());
            const auto loaded = load_session(path("cut.kvasir"));
            QVERIFY(!loaded.ok());
            QVERIFY(!loaded.error().message().empty());
        }
        for (const char* text :
             {"{}", "[]", "{\"kvasir_session\": 99}", "{\"kvasir_session\": 1}",
              "{\"kvasir_session\": 1, \"experiment\": 3}",
              "{\"kvasir_session\": 1, \"experiment\": {\"prompt\": \"x\", \"lanes\": [{\"spec\": \"nonsense\"}]}}",
              "{\"kvasir_session\": 1, \"experiment\": {\"prompt\": \"x\", \"lanes\": [{\"spec\": \"fp16\"}], "
              "\"reference\": 4}}"}) {
            QVERIFY(write_output(path("bad.kvasir"), text).ok());
            QVERIFY2(!load_session(path("bad.kvasir")).ok(), text);
        }
        auto j = nlohmann::json::parse(whole);
        j["run"]["lanes"][0]["records"]["kl"] = nlohmann::json::array({0.1});  // a column too short
        QVERIFY(write_output(path("short.kvasir"), j.dump()).ok());
        QVERIFY(!load_session(path("short.kvasir")).ok());
    }
    void aFullDiskLeavesTheOldFile() {
        QVERIFY(write_output(path("keep.kvasir"), "old").ok());
        const Status s = write_output("/dev/full/x.kvasir", "new");
        QVERIFY(!s.ok());
        QVERIFY(s.error().code == ErrorCode::disk);
        QVERIFY(!write_output(path("no/such/folder/x.kvasir"), "new").ok());
        QCOMPARE(*read_file(path("keep.kvasir")), std::string("old"));
        QVERIFY(!load_session(path("absent.kvasir")).ok());
    }
};

QTEST_APPLESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
