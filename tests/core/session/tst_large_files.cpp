// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions and journals that need more memory than there is: a message, whatever it is that does not fit.
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include "core/base/guard_memory.h"
#include "core/base/read_file.h"
#include "core/session/engine.h"
#include "core/session/journal_line.h"
#include "core/session/run_fixture.h"
#include "core/session/run_journal.h"
#include "core/session/session_file.h"
#include "support/little_memory.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

/// JSON of 16 bytes in memory for two in the file, and more while it is read and taken apart.
std::string many_zeros(size_t n) {
    std::string text = "{\"kvasir_session\":1,\"zeros\":[0";
    for (size_t i = 1; i < n; ++i)
        text += ",0";
    return text + "]}";
}

}  // namespace

class TestLargeFiles : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
    std::string written(const char* name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }

    static void refusedForMemory(const Error& error, const std::string& path) {
        QVERIFY2(error.code == ErrorCode::memory, error.message().c_str());
        QVERIFY2(error.message().find(path) != std::string::npos, error.message().c_str());
    }

 private slots:
    void initTestCase() {
        if (!kMemoryCanBeLittle) QSKIP("sanitizers need all address space");
    }

    void threadsThatDoNotFit() {
        const LittleMemory little(kMiB);  // the first test: the stack of a thread that ended would be used again
        const auto fits = [](auto make) { return guard_memory([&] { return make(), true; }, [] { return false; }); };
        QVERIFY(!fits([] { const Engine engine; }));
        QVERIFY(!fits([this] { const RunJournal journal(path("runs")); }));
    }

    void filesThatDoNotFit() {
        const std::string file = path("long.kvasir");
        std::ofstream(file).close();
        std::filesystem::resize_file(file, 512 * kMiB);
        RunJournal mine(path("runs"));
        const LittleMemory little(64 * kMiB);
        const auto bytes = read_file(file);
        QVERIFY(!bytes.ok());
        refusedForMemory(bytes.error(), file);
        const auto session = load_session(file);
        QVERIFY(!session.ok());
        refusedForMemory(session.error(), file);
        const auto journal = read_journal(file);
        QVERIFY(!journal.ok());
        refusedForMemory(journal.error(), file);
        const Status adopted = mine.adopt(file);
        QVERIFY(!adopted.ok() && adopted.error().code == ErrorCode::memory);
    }

    void documentsThatGrowInMemory() {
        const std::string zeros = many_zeros(4'000'000);
        const std::string file = written("zeros.kvasir", zeros);
        const std::string kept = written("zeros.journal", journal_line(0, {{"kvasir_journal", kJournalVersion}}) +
                                                              journal_line(0, nlohmann::json::parse(zeros)));
        const auto with_room = load_session(file);
        QVERIFY(!with_room.ok() && with_room.error().code == ErrorCode::input);
        for (const size_t room : {40, 80, 160, 300}) {
            const LittleMemory little(room * kMiB);
            const auto session = load_session(file);
            QVERIFY(!session.ok());
            refusedForMemory(session.error(), file);
            const auto journal = read_journal(kept);
            QVERIFY(!journal.ok());
            refusedForMemory(journal.error(), kept);
        }
    }

    void resultsThatDoNotFitAsText() {
        const auto model = tiny_model();
        Session session{experiment({"fp16"}, 2), {}, nlohmann::json::object()};
        session.run = carry_out(model, session.experiment);
        session.extra["before"] = true;
        const std::string file = path("saved.kvasir");
        QVERIFY(save_session(session, file).ok());
        const std::string before = *read_file(file);
        for (int doubled = 0; doubled < 13; ++doubled)
            session.run.append(std::vector<StepRecord>(session.run.lane(0)));
        {
            const LittleMemory little(16 * kMiB);
            const Status saved = save_session(session, file);
            QVERIFY(!saved.ok());
            refusedForMemory(saved.error(), file);
        }
        QVERIFY(*read_file(file) == before);
        QVERIFY(save_session(session, file).ok());
    }
};

QTEST_GUILESS_MAIN(TestLargeFiles)
#include "tst_large_files.moc"
