// SPDX-License-Identifier: GPL-3.0-or-later
#include <chrono>
#include <thread>

#include "core/session/engine.h"
#include "core/session/run_fixture.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

const std::string kTiny = source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf");

/// Waits until `done` holds or ten seconds are over.
template <class F>
bool eventually(F&& done) {
    for (int i = 0; i < 24000; ++i) {  // two minutes at most: a loaded machine under a sanitizer needs some of them
        if (done()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

}  // namespace

class TestEngine : public QObject {
    Q_OBJECT
 private slots:
    void runsToTheEnd() {
        Engine engine;
        engine.load_model(kTiny);
        engine.start(experiment({"fp16", "fp32"}, 20));
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::finished);
        QCOMPARE(engine.status().n_done, 20);
        const auto records = engine.drain().steps;
        QCOMPARE(records.size(), size_t(40));
        for (const StepRecord& r : records)
            QCOMPARE(r.run, engine.run_info()->serial);
        QVERIFY(engine.drain().empty());
        QCOMPARE(engine.status().coverage.size(), size_t(2));
    }
    void needsAModel() {
        Engine engine;
        engine.start(experiment({"fp16"}, 3));
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::failed);
        QVERIFY(!engine.status().error.message().empty());
    }
    void aBadFileKeepsTheModel() {
        Engine engine;
        engine.load_model(kTiny);
        engine.wait_until_idle();
        const auto before = engine.model();
        QVERIFY(before);
        engine.load_model(source_path("README.md"));
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::failed);
        QCOMPARE(engine.model(), before);
        engine.start(experiment({"fp16"}, 3));
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::finished);
    }
    void aRunAfterALoadThatFailedSaysWhyThereIsNoModel() {
        Engine engine;
        engine.load_model(source_path("README.md"));
        engine.start(experiment({"fp16"}, 3));  // as `kvasir --run FILE` does
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::failed);
        QVERIFY(engine.status().error.message().find("README.md") != std::string::npos);
    }
    void pauseStepResumeStop() {
        KVASIR_NEEDS_MODEL(path);  // the tiny one is too quick to be paused
        Engine engine;
        engine.load_model(path);
        Experiment e = experiment({"fp16", "fp32"}, 400);
        e.prompt = std::string(lighthouse_text());
        engine.start(e);
        QVERIFY(eventually([&] { return engine.status().n_done >= 3; }));
        engine.pause();
        QVERIFY(eventually([&] { return engine.status().state == EngineState::paused; }));
        const int at = engine.status().n_done;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        QCOMPARE(engine.status().n_done, at);
        engine.step();
        QVERIFY(eventually(
            [&] { return engine.status().state == EngineState::paused && engine.status().n_done == at + 1; }));
        engine.resume();
        QVERIFY(eventually(
            [&] { return engine.status().n_done > at + 3 || engine.status().state == EngineState::finished; }));
        engine.stop();
        engine.wait_until_idle();
        const EngineStatus end = engine.status();
        QVERIFY(end.state == EngineState::stopped || end.state == EngineState::finished);
        // Nothing measured is lost: every token done has its records.
        QCOMPARE(engine.drain().steps.size(), size_t(end.n_done) * 2);
    }
    void aRunMayBeginWithOneToken() {
        Engine engine;
        engine.load_model(kTiny);
        for (const bool while_one_runs : {false, true}) {
            if (while_one_runs) engine.start(experiment({"fp32"}, 60));
            engine.start(experiment({"fp16"}, 60), true);
            QVERIFY(eventually([&] { return engine.status().state == EngineState::paused; }));
            QCOMPARE(engine.status().n_done, 1);
            QCOMPARE(engine.run_info()->experiment.lanes[0].spec.text, std::string("fp16"));
            engine.step();
            QVERIFY(eventually(
                [&] { return engine.status().state == EngineState::paused && engine.status().n_done == 2; }));
            engine.resume();
            engine.wait_until_idle();
            QCOMPARE(engine.status().n_done, 60);
        }
        engine.start(experiment({"fp16"}, 60));
        engine.pause();  // at once: the run has not begun
        QVERIFY(eventually([&] { return engine.status().state == EngineState::paused; }));
        QVERIFY(engine.status().n_done < 60);
    }
    void startEndsTheRunBefore() {
        Engine engine;
        engine.load_model(kTiny);
        engine.start(experiment({"fp16"}, 60));
        engine.start(experiment({"fp16", "fp32"}, 5));
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::finished);
        QCOMPARE(engine.status().n_done, 5);
    }
    void distributionOnRequest() {
        Engine engine;
        engine.load_model(kTiny);
        engine.start(experiment({"fp16", "fp32"}, 8));
        engine.wait_until_idle();
        engine.request_distribution({1, 1, -1, Side::k, 32});
        std::shared_ptr<const DistributionFrame> frame;
        QVERIFY(eventually([&] { return (frame = engine.take_distribution()) != nullptr; }));
        QCOMPARE(frame->request.lane, 1);
        uint32_t n = 0;
        for (const uint32_t c : frame->before)
            n += c;
        const auto model = engine.model();
        QCOMPARE(int(n), frame->n_tokens * model->config().n_kv_heads * model->config().head_dim);
        QVERIFY(!engine.take_distribution());
    }
    void quitWhileRunning() {
        Engine engine;
        engine.load_model(kTiny);
        engine.start(experiment({"fp16"}, 60));
    }
};

QTEST_APPLESS_MAIN(TestEngine)
#include "tst_engine.moc"
