// SPDX-License-Identifier: GPL-3.0-or-later
// Each allocation of a load, a run and an engine's job fails, alone or with all after it: each ends in an error that
// speaks of memory or, where somebody could do without, in success; nothing is left behind, what was there before goes
// on, and the journal of the run is whole.
#include "core/base/guard_memory.h"
#include "core/base/read_file.h"
#include "core/session/engine.h"
#include "core/session/run_fixture.h"
#include "core/session/run_journal.h"
#include "kernels/cpu/huge_arena.h"
#include "support/failing_memory.h"

using namespace kvasir;
using namespace kvasir::test;
using How = FailingMemory::How;

namespace {

const std::string kPath = source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf");
const std::string kOther = source_path("tests/golden/models/gguf/llama-gqa-F16.gguf");

/// Calls attempt() with the nth allocation failing, for every n, until one comes through undisturbed.
template <class F>
void with_each_failure(How how, F&& attempt) {
    long n = 0;
    for (bool disturbed = true; disturbed; ++n) {
        FailingMemory::fail_after(n, how);
        attempt();
        FailingMemory::relent();
        disturbed = FailingMemory::reached();
        if (QTest::currentTestFailed()) qFatal("with allocation %ld failing", n);
    }
    qInfo("%ld allocations", n);
    QVERIFY(n > 100);
}

void once_and_lasting() {
    QTest::addColumn<How>("how");
    QTest::newRow("one allocation") << How::once;
    QTest::newRow("one and all after it") << How::lasting;
}

Experiment short_run() {
    Experiment e = experiment({"fp16", "quanto:4,group=16", "kivi:2,group=16", "hqq:3,group=16", "fp8", "tq:4"}, 6);
    e.noise_floor = true;
    return e;
}

/// A journal, and how often it was told what.
struct Watched : RunObserver {
    explicit Watched(const std::string& folder) : journal(folder, {.most_runs = 1}) {}
    void began(std::shared_ptr<const RunInfo> info, std::shared_ptr<const Model> model) override {
        const FailingMemory::OnlyQuestionsFail here;
        ++n_began;
        journal.began(std::move(info), std::move(model));
    }
    void measured(const RunRecords& records) override {
        const FailingMemory::OnlyQuestionsFail here;
        journal.measured(records);
    }
    void ended(const char* how, const Error& why) override {
        const FailingMemory::OnlyQuestionsFail here;
        ++n_ended;
        journal.ended(how, why);
    }
    RunJournal journal;
    int n_began = 0, n_ended = 0;
};

}  // namespace

class TestOutOfMemory : public QObject {
    Q_OBJECT

    /// What a load or a run holds when it is gone must be nothing.
    struct Balance {
        long live = FailingMemory::live();
        size_t weights = kernels::weight_arena().bytes_in_use(), caches = kernels::cache_arena().bytes_in_use();
        friend bool operator==(const Balance&, const Balance&) = default;
    };

 private slots:
    void of_a_load_data() { once_and_lasting(); }
    void of_a_load() {
        QFETCH(How, how);
        bool counted = false;
        const auto attempt = [&] {
            const Balance before;
            {
                const auto model = Model::load(kPath, {}, {}, WeightsAs::as_is, 2);
                FailingMemory::relent();
                QVERIFY(model ? !FailingMemory::thrown() : model.error().code == ErrorCode::memory);
            }
            const Balance after;
            if (counted)
                QVERIFY2(after == before, qPrintable(QString("%1 allocations, %2 bytes of weights are left")
                                                         .arg(after.live - before.live)
                                                         .arg(after.weights - before.weights)));
        };
        attempt();  // what is made once in a program's life, errors and the test's own words included
        FailingMemory::fail_after(0, how);
        attempt();
        counted = true;
        with_each_failure(how, attempt);
    }

    void of_a_run_data() { once_and_lasting(); }
    void of_a_run() {
        QFETCH(How, how);
        const auto model = load(kPath);
        const Experiment e = short_run();
        const auto once = [&]() -> Status {
            auto run = Run::create(model, e);
            if (!run) return run.error();
            const auto& lanes = (*run)->info().lanes;
            for (const auto& lane : lanes)
                if (lane.failed) return lane.error;
            RunModel measured;
            const auto done = run_to_end(**run, *model, measured);
            if (!done) return done.error();
            for (int i = 0; i < int(lanes.size()); ++i)
                if (!(*run)->lane_error(i).empty()) return Error{ErrorCode::memory, (*run)->lane_error(i), "", "", ""};
            return {};
        };
        const Status whole = once();
        QVERIFY2(whole.ok(), whole ? "" : whole.error().message().c_str());
        const Balance before;
        with_each_failure(how, [&] {
            {
                const Status done = guard_memory("", "", once);
                FailingMemory::relent();
                QVERIFY(done ? !FailingMemory::thrown() : done.error().code == ErrorCode::memory);
            }
            QVERIFY(Balance().caches == before.caches && Balance().weights == before.weights);
        });
        QVERIFY(once().ok());
    }

    void an_engine_keeps_its_model_data() { once_and_lasting(); }
    void an_engine_keeps_its_model() {
        QFETCH(How, how);
        Engine engine;
        engine.load_model(kPath, 2);
        engine.wait_until_idle();
        with_each_failure(how, [&] {
            const auto model = engine.model();
            const bool asked = guard_memory([&] { return engine.load_model(kOther, 2), true; }, [] { return false; });
            engine.wait_until_idle();
            FailingMemory::relent();
            if (!asked || !FailingMemory::thrown()) return;
            const EngineStatus status = engine.status();
            QVERIFY(status.state == EngineState::failed && status.error.code == ErrorCode::memory);
            QVERIFY(!status.error.what.empty());
            QCOMPARE(engine.model(), model);
        });
        QCOMPARE(engine.status().state, EngineState::idle);
    }

    /// ... and its very first job says why it failed.
    void an_engine_that_never_had_memory_says_so() {
        Engine engine;
        std::string path = kPath;
        FailingMemory::fail_after(0, How::lasting);
        engine.load_model(std::move(path), 2);
        engine.wait_until_idle();
        FailingMemory::relent();
        const EngineStatus status = engine.status();
        QVERIFY(status.state == EngineState::failed && status.error.code == ErrorCode::memory);
        QVERIFY(!status.error.what.empty());
    }

    void an_engine_ends_what_it_began_data() { once_and_lasting(); }
    void an_engine_ends_what_it_began() {
        QFETCH(How, how);
        QTemporaryDir folder;
        const auto watched = std::make_shared<Watched>(folder.path().toStdString());
        Engine engine;
        engine.observe(watched);
        engine.load_model(kPath, 2);
        engine.wait_until_idle();
        Experiment e = short_run();
        e.n_threads = 1;  // two are above
        int n_failed = 0, n_cut = 0;
        const auto attempt = [&] {
            const bool asked = guard_memory([&] { return engine.start(e), true; }, [] { return false; });
            engine.wait_until_idle();
            FailingMemory::relent();
            if (!asked) return;
            const EngineStatus status = engine.status();
            std::vector<int> n_shown(e.lanes.size());
            for (const StepRecord& r : engine.drain().steps)
                ++n_shown[size_t(r.lane)];
            if (status.state == EngineState::failed) {
                QVERIFY(status.error.code == ErrorCode::memory && !status.error.what.empty());
                ++n_failed;
            } else {
                QCOMPARE(status.state, EngineState::finished);
                QCOMPARE(status.n_done, e.n_tokens);
            }
            QCOMPARE(watched->n_began, watched->n_ended);
            const RunJournal::State journal = watched->journal.state();
            if (journal.path.empty()) return;
            const auto kept = read_journal(journal.path);
            QVERIFY2(kept.ok(), kept ? "" : kept.error().message().c_str());
            if (how == How::once) QVERIFY(read_file(journal.path)->find("{\"end\":") != std::string::npos);
            QVERIFY(status.state == EngineState::failed || journal.failed || kept->summary.n_done == e.n_tokens);
            for (int lane = 0; lane < kept->run.n_lanes(); ++lane) {
                const auto& records = kept->run.lane(lane);
                QVERIFY(journal.failed || int(records.size()) >= n_shown[size_t(lane)]);
                for (size_t i = 0; i < records.size(); ++i)
                    QCOMPARE(records[i].step, int(i));
            }
            n_cut += journal.failed;
        };
        with_each_failure(how, attempt);
        QVERIFY(n_failed > 0);
        QVERIFY(n_cut > 0);
        QCOMPARE(engine.status().state, EngineState::finished);
        QCOMPARE(engine.status().n_done, e.n_tokens);
    }
};

QTEST_GUILESS_MAIN(TestOutOfMemory)
#include "tst_out_of_memory.moc"
