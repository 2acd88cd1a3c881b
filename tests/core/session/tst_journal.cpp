// SPDX-License-Identifier: GPL-3.0-or-later
// The journal of a run: what a killed program leaves, journals cut at every byte, full disks, two programs.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/read_file.h"
#include "core/session/engine.h"
#include "core/session/run_fixture.h"
#include "core/session/run_journal.h"
#include "core/session/session_file.h"

using namespace kvasir;
using namespace kvasir::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kModel = "tests/golden/models/gguf/llama-gqa-Q8_0.gguf";

Experiment small_experiment(int n_tokens) {
    Experiment e = experiment({"fp16", "quanto:4,residual=32"}, n_tokens);
    e.noise_floor = true;
    return e;
}

/// Runs the experiment with a journal in `folder`; what was drained is what a window would show.
RunModel run_with(const std::shared_ptr<RunJournal>& journal, const Experiment& e) {
    Engine engine;
    engine.observe(journal);
    engine.load_model(source_path(kModel));
    engine.wait_until_idle();
    engine.start(e);
    engine.wait_until_idle();
    const ModelConfig& c = engine.model()->config();
    RunModel shown;
    shown.begin(engine.run_info(), c.n_layers, c.n_kv_heads, c.head_dim);
    RunRecords records = engine.drain();
    shown.append(std::move(records.steps));
    shown.append(records.floors);
    shown.remember_pieces(engine.model()->tokenizer());
    return shown;
}

/// The run alone, as a session holds it.
std::string as_text(const Experiment& e, const RunModel& run) {
    return session_to_json({e, run, nlohmann::json::object()}).dump();
}

}  // namespace

class TestJournal : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string folder(const char* name) const { return folder_.filePath(name).toStdString(); }

    /// The only journal of a folder.
    static JournalSummary only(const std::string& in) {
        const auto all = list_journals(in);
        if (all.size() != 1) qFatal("%zu journals", all.size());
        return all[0];
    }

 private slots:
    void aFinishedRunIsThereToTheBit() {
        const std::string in = folder("whole");
        const Experiment e = small_experiment(6);
        RunModel shown;
        {
            auto journal = std::make_shared<RunJournal>(in);
            shown = run_with(journal, e);
            QVERIFY(!journal->state().failed);
            QVERIFY(only(in).in_use);
            QVERIFY(!discard_journal(only(in).path).ok());  // somebody has it
        }
        const JournalSummary s = only(in);
        QVERIFY(!s.in_use && !s.closed && !s.torn && s.damage.empty());
        QCOMPARE(s.n_done, 6);
        QCOMPARE(s.n_planned, 6);
        QCOMPARE(s.specs, (std::vector<std::string>{"fp16", "quanto:4,residual=32"}));
        const auto recovered = read_journal(s.path);
        QVERIFY2(recovered.ok(), recovered ? "" : recovered.error().message().c_str());
        QVERIFY(recovered->note.empty());
        QCOMPARE(recovered->run.floors().size(), shown.floors().size());
        QVERIFY(as_text(recovered->experiment, recovered->run) == as_text(e, shown));
    }

    void aLaneThatStoppedStaysStopped() {
        const std::string in = folder("stopped");
        const auto model = tiny_model();
        auto run = Run::create(model, small_experiment(2));
        QVERIFY(run.ok() && (*run)->read_prompt().ok());
        RunRecords records;
        QVERIFY((*run)->next(records.steps).ok());
        records.stops.push_back({(*run)->info().serial, 1, "the scheme gave up"});
        {
            RunJournal journal(in);
            journal.began(std::make_shared<const RunInfo>((*run)->info()), model);
            journal.measured(records);
            journal.ended("stopped", {});
        }
        const auto recovered = read_journal(only(in).path);
        QVERIFY2(recovered.ok(), recovered ? "" : recovered.error().message().c_str());
        QCOMPARE(recovered->run.failure(1), std::string("the scheme gave up"));
        QVERIFY(recovered->run.failure(0).empty());
    }

    void adoptingAndClosingSayWhoHasIt() {
        const std::string in = folder("adopt");
        run_with(std::make_shared<RunJournal>(in), small_experiment(3));
        const std::string path = only(in).path;
        {
            RunJournal one(in), other(in);
            QVERIFY(one.adopt(path).ok());
            QVERIFY(one.adopt(path).ok());
            const Status second = other.adopt(path);
            QVERIFY(!second.ok() && second.error().message().find("another window has it") != std::string::npos);
        }
        QVERIFY(!only(in).closed);  // the window that restored it died: it is offered again
        {
            RunJournal one(in);
            QVERIFY(one.adopt(path).ok());
            one.close("quit");
        }
        QVERIFY(only(in).closed);
        QCOMPARE(read_journal(path)->run.lane(0).size(), size_t(3));
        QVERIFY(discard_journal(path).ok());
        QVERIFY(list_journals(in).empty());
    }

    void everyCutRestoresAPrefixOrSaysSo() {
        const std::string in = folder("cut");
        Experiment e = experiment({"fp16"}, 2);
        e.layer_errors = false;
        run_with(std::make_shared<RunJournal>(in), e);
        const std::string path = only(in).path, whole = *read_file(path);
        const std::string full = as_text(read_journal(path)->experiment, read_journal(path)->run);
        const std::string cut_path = in + "/cut.journal";
        size_t last_steps = 0;
        int refused = 0;
        fs::remove(path);
        for (size_t cut = 0; cut <= whole.size(); ++cut) {
            std::ofstream(cut_path, std::ios::binary | std::ios::trunc).write(whole.data(), std::streamsize(cut));
            const auto recovered = read_journal(cut_path);
            if (!recovered) {
                ++refused;
                QVERIFY(last_steps == 0 && !recovered.error().message().empty());
                continue;
            }
            const size_t steps = recovered->run.lane(0).size();
            QVERIFY(steps >= last_steps);
            QCOMPARE(recovered->summary.torn, whole[cut - 1] != '\n');
            QCOMPARE(recovered->summary.torn, !recovered->note.empty());
            QCOMPARE(int(steps), recovered->summary.n_done);
            last_steps = steps;
            if (cut % 97 == 0 || cut == whole.size()) {  // and what the start of the window shows of it
                const JournalSummary s = only(in);
                QCOMPARE(s.n_done, int(steps));
                QCOMPARE(s.torn, recovered->summary.torn);
            }
        }
        QCOMPARE(last_steps, size_t(2));
        QVERIFY(refused > 100);  // before the second line there is no run
        QVERIFY(as_text(read_journal(cut_path)->experiment, read_journal(cut_path)->run) == full);
    }

    void aChangedByteCutsThere() {
        const std::string in = folder("flip");
        run_with(std::make_shared<RunJournal>(in), small_experiment(3));
        const std::string path = only(in).path, whole = *read_file(path);
        for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 300) {
            std::string changed = whole;
            changed[at] = char(changed[at] ^ 1);
            std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
            const auto recovered = read_journal(path);
            if (recovered) QVERIFY(recovered->summary.torn && recovered->run.lane(0).size() <= 3);
            list_journals(in);
        }
    }

    void strangeFilesAreNoJournals() {
        const std::string in = folder("strange");
        fs::create_directories(in + "/folder.journal");
        std::ofstream(in + "/empty.journal");
        std::ofstream(in + "/text.journal") << "hello\nworld\n";
        std::ofstream(in + "/zeros.journal") << std::string(5000, '\0');
        QCOMPARE(mkfifo((in + "/pipe.journal").c_str(), 0600), 0);
        const auto all = list_journals(in);
        QCOMPARE(all.size(), size_t(5));
        for (const JournalSummary& s : all) {
            QVERIFY(!s.damage.empty());
            QVERIFY(!read_journal(s.path).ok());
        }
        QVERIFY(list_journals(in + "/not there").empty());
    }

    void theHistoryIsBounded() {
        const std::string in = folder("history");
        JournalLimits limits;
        limits.most_runs = 3;
        {
            auto journal = std::make_shared<RunJournal>(in, limits);
            for (int i = 0; i < 6; ++i)
                run_with(journal, small_experiment(2));
        }
        QVERIFY(list_journals(in).size() <= 4);  // three and the one that was made after the last look
        limits.most_bytes = 1;
        prune_journals(in, limits);
        QVERIFY(list_journals(in).empty());
    }

    void aFullDiskSaysSoAndTheRunGoesOn() {
        const std::string in = folder("full");
        std::signal(SIGXFSZ, SIG_IGN);
        const Experiment e = small_experiment(12);
        run_with(std::make_shared<RunJournal>(folder("size")), e);
        const uint64_t size = fs::file_size(only(folder("size")).path);
        rlimit old{};
        getrlimit(RLIMIT_FSIZE, &old);
        const rlimit tiny{rlim_t(size / 2), old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &tiny);
        auto journal = std::make_shared<RunJournal>(in);
        const RunModel shown = run_with(journal, e);
        setrlimit(RLIMIT_FSIZE, &old);
        const RunJournal::State state = journal->state();
        QVERIFY(state.failed && state.problem.message().find("Save the session to another place") != std::string::npos);
        QCOMPARE(shown.lane(0).size(), size_t(12));  // nothing is missing from the window
        const auto half = read_journal(only(in).path);
        QVERIFY(half.ok() && half->run.lane(0).size() < 12 && half->run.lane(0).size() > 2);
        journal->close("quit");  // there is room again: what waited is written
        QVERIFY(!journal->state().failed);
        QCOMPARE(read_journal(only(in).path)->run.lane(0).size(), size_t(12));
        QVERIFY(only(in).closed);
    }

    void aFolderThatCannotBeWrittenSaysSoAndTheRunGoesOn() {
        std::ofstream(folder("file")) << "x";  // root may write into read-only folders, so a file stands in its place
        auto journal = std::make_shared<RunJournal>(folder("file") + "/runs");
        QCOMPARE(run_with(journal, small_experiment(2)).lane(0).size(), size_t(2));
        QVERIFY(journal->state().failed && !journal->state().problem.message().empty());
    }

    /// The program is killed in the middle: at most the step it was at is lost, and nothing older.
    void killsLoseAtMostOneStep() {
        const std::string in = folder("kills");
        QVERIFY(fs::create_directories(in));
        const std::string older = in + "/older.journal";
        run_with(std::make_shared<RunJournal>(folder("older")), small_experiment(2));
        fs::copy(only(folder("older")).path, older);
        const std::string older_bytes = *read_file(older);
        int with_steps = 0;
        for (int round = 0; round < kKills; ++round) {
            int pipe_ends[2];
            QCOMPARE(pipe2(pipe_ends, O_CLOEXEC), 0);
            const pid_t child = fork();
            if (child == 0) {
                Engine engine;
                engine.observe(std::make_shared<RunJournal>(in));
                engine.load_model(source_path(kModel));
                engine.wait_until_idle();
                engine.start(small_experiment(80));
                for (;;) {  // as a window does: what is drained is shown
                    const RunRecords records = engine.drain();
                    for (const StepRecord& r : records.steps)
                        if (write(pipe_ends[1], &r.step, sizeof r.step) < 0) _exit(1);
                    if (!records.empty() && records.steps.empty()) continue;
                    usleep(200);
                }
            }
            close(pipe_ends[1]);
            int shown = -1, step = 0;
            const int kill_at = round % 40;  // shown steps before the kill; then a little later
            while (shown < kill_at && read(pipe_ends[0], &step, sizeof step) == sizeof step)
                shown = std::max(shown, step);
            usleep(useconds_t(round * 137 % 3000));
            kill(child, SIGKILL);
            int status = 0;
            QCOMPARE(waitpid(child, &status, 0), child);
            while (read(pipe_ends[0], &step, sizeof step) == sizeof step)
                shown = std::max(shown, step);
            close(pipe_ends[0]);
            QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            QVERIFY(*read_file(older) == older_bytes);
            for (const JournalSummary& s : list_journals(in)) {
                if (s.path == older) continue;
                QVERIFY(!s.in_use && !s.closed);
                const auto recovered = read_journal(s.path);
                QVERIFY2(recovered.ok(), recovered ? "" : recovered.error().message().c_str());
                // a step counts as shown once the window could have it: that one is in the journal
                QVERIFY2(int(recovered->run.lane(0).size()) >= shown + 1,
                         fmt::format("{} of {}", recovered->run.lane(0).size(), shown + 1).c_str());
                with_steps += recovered->run.lane(0).size() > 0;
                QVERIFY(discard_journal(s.path).ok());
            }
        }
        QVERIFY(with_steps > kKills / 2);
    }

    /// A save is interrupted at any moment: the old or the new file is there, whole.
    void killsWhileSavingLeaveTheOldOrTheNewFile() {
        const std::string path = folder("saved.kvasir");
        Session session;
        session.experiment = small_experiment(8);
        session.run = carry_out(tiny_model(), session.experiment);
        session.extra = nlohmann::json::object();
        const auto bytes_of = [&](int version) {
            session.extra["version"] = version;
            return session_to_json(session).dump(1) + "\n";
        };
        session.extra["version"] = 0;
        QVERIFY(save_session(session, path).ok());
        for (int round = 0; round < kKills; ++round) {
            const pid_t child = fork();
            if (child == 0)
                for (int version = 1;; ++version) {
                    session.extra["version"] = version;
                    (void)save_session(session, path);
                }
            usleep(useconds_t(2000 + round * 977 % 30000));
            kill(child, SIGKILL);
            QCOMPARE(waitpid(child, nullptr, 0), child);
            const auto loaded = load_session(path);
            QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().message().c_str());
            QVERIFY(*read_file(path) == bytes_of(loaded->extra["version"].get<int>()));
        }
    }

 private:
    /// tools/kill-test asks for 200.
    const int kKills = qEnvironmentVariableIsSet("KVASIR_KILLS") ? qEnvironmentVariableIntValue("KVASIR_KILLS") : 12;
};

QTEST_APPLESS_MAIN(TestJournal)
#include "tst_journal.moc"
