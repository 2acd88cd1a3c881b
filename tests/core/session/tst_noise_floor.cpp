// SPDX-License-Identifier: GPL-3.0-or-later
// The the reference in the noise floor's pass: what it gives does not depend on when it is made.
#include <QTemporaryDir>
#include <chrono>
#include <thread>

#include "core/measure/divergence.h"
#include "core/measure/statistics.h"
#include "core/model/prompt_pass.h"
#include "core/session/engine.h"
#include "core/session/run_fixture.h"
#include "core/session/session_file.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

/// More steps than one pass of the noise floor's pass reads (64); the tiny model has room for no more.
constexpr int kSteps = 120;

Experiment with_floor(const std::vector<std::string>& specs, int n_tokens) {
    Experiment e = experiment(specs, n_tokens);
    e.noise_floor = true;
    return e;
}

/// One cache decoded token by token, with its sums in the given order.
class Decoder {
 public:
    Decoder(const std::shared_ptr<const Model>& model, const Experiment& e, const RunInfo& info, int sum_order)
        : forward_(model, 2, sum_order),
          cache_(KvCache::create(e.lanes[0].spec, model->cache_shape(int(info.prompt_ids.size()) + info.n_planned),
                                 e.kernels)
                     .value()),
          n_vocab_(size_t(model->config().n_vocab)) {
        KvCache* cache = cache_.get();
        logits_ = read_prompt(forward_, {&cache, 1}, info.prompt_ids, 128).value().logits.front();
        if (!forward_.finish_prompt({&cache, 1}).front()) qFatal("the prompt is not stored");
    }
    /// What attention gives in each layer goes to `outputs`, (n_layers, width).
    void step(int token, std::vector<float>& outputs) {
        const ModelConfig& c = forward_.model().config();
        ForwardOptions options;
        options.output_tap = [&](int, const float* o) { outputs.insert(outputs.end(), o, o + c.n_heads * c.head_dim); };
        outputs.clear();
        Sequence s;
        s.tokens = {token};
        s.caches = {cache_.get()};
        if (!forward_.run({&s, 1}, options, logits_)) qFatal("the step failed");
    }
    Prediction prediction() const { return predict({logits_.data(), n_vocab_}); }

 private:
    Forward forward_;
    std::unique_ptr<KvCache> cache_;
    std::vector<float> logits_;
    size_t n_vocab_;
};

std::vector<float> layer_errors(const std::vector<float>& o, const std::vector<float>& o_again, const Model& model) {
    std::vector<float> errors;
    const size_t width = o.size() / size_t(model.config().n_layers);
    for (size_t at = 0; at < o.size(); at += width)
        errors.push_back(float(relative_error({o_again.data() + at, width}, {o.data() + at, width})));
    return errors;
}

float largest(const std::vector<FloorRecord>& floors) {
    float most = 0;
    for (const FloorRecord& f : floors)
        for (const float e : f.attention_error)
            most = std::max(most, e);
    return most;
}

/// The floor of a run, drawn in lock-step with the reference.
std::vector<FloorRecord> step_by_step(const std::shared_ptr<const Model>& model, const RunModel& run) {
    const Experiment& e = run.info().experiment;
    Decoder reference(model, e, run.info(), 0), again(model, e, run.info(), 1);
    std::vector<FloorRecord> floors;
    std::vector<float> o, o_again;  // of the step that made the prediction; nothing after the prompt
    for (const StepRecord& r : run.lane(0)) {
        const Prediction a = reference.prediction(), b = again.prediction();
        floors.push_back({run.info().serial, r.step, float(kl_divergence(a, b)),
                          float(b.log_prob(r.token_id) - a.log_prob(r.token_id)), layer_errors(o, o_again, *model)});
        reference.step(r.token_id, o);
        again.step(r.token_id, o_again);
    }
    return floors;
}

}  // namespace

class TestNoiseFloor : public QObject {
    Q_OBJECT
 private slots:
    void deferredIsStepByStep_data() {
        QTest::addColumn<QString>("reference");
        QTest::addColumn<bool>("reference_kernels");
        QTest::newRow("fp16") << "fp16" << false;
        QTest::newRow("fp16, reference kernels") << "fp16" << true;
        QTest::newRow("fp32") << "fp32" << false;
        QTest::newRow("quantized, whole flushes") << "quanto:4,group=16,residual=32" << false;
        QTest::newRow("quantized as it is written") << "k=affine4:group=16; v=affine4:group=16; flush=write" << false;
        QTest::newRow("centred") << "k=fp32:centre; v=fp32; residual=16; flush=block" << false;
    }
    void deferredIsStepByStep() {
        QFETCH(QString, reference);
        QFETCH(bool, reference_kernels);
        const auto model = tiny_model();
        Experiment e = with_floor({reference.toStdString(), "fp32"}, kSteps);
        if (reference_kernels) e.kernels = KernelPath::reference;
        const RunModel run = carry_out(model, e);
        QCOMPARE(run.lane(0).size(), size_t(kSteps));
        QCOMPARE(run.floors().size(), size_t(kSteps));
        QVERIFY2(run.noise_floor().nll_max > 0, "another order of the sums gave the same bits");
        const std::vector<FloorRecord> in_lock_step = step_by_step(model, run);
        QVERIFY(run.floors() == in_lock_step);
        QVERIFY(run.floors()[0].attention_error.empty());
        QCOMPARE(run.floors()[1].attention_error.size(), size_t(model->config().n_layers));
        QVERIFY(largest(run.floors()) > 0);
        QCOMPARE(run.floor_at(77)->step, 77);
        QVERIFY(!run.floor_at(kSteps));
    }
    void errorsOfTheLayersOnlyWhereTheyAreRecorded() {
        Experiment e = with_floor({"fp16", "fp32"}, 70);
        e.layer_errors = false;
        const RunModel run = carry_out(tiny_model(), e);
        QCOMPARE(run.floors().size(), size_t(70));
        QVERIFY(std::all_of(run.floors().begin(), run.floors().end(),
                            [](const FloorRecord& f) { return f.attention_error.empty(); }));
    }
    void aReferenceThatQuantizesIsDrawnAtEachStep() {
        const std::pair<const char*, int> waits[] = {{"fp16", 64}, {"quanto:4,group=16", 1}};
        for (const auto& [reference, n_wait] : waits) {
            auto run = Run::create(tiny_model(), with_floor({reference}, 80)).value();
            QVERIFY(run->read_prompt().ok());
            std::vector<StepRecord> records;
            std::vector<FloorRecord> floors;
            for (int i = 1; i <= n_wait; ++i) {
                QVERIFY(!run->floor_due());
                QVERIFY(*run->next(records));
            }
            QVERIFY(run->floor_due());
            // how far the pass is can be said: it asks as often as it was announced
            const int announced = run->floor_layers();
            int n_asked = 0;
            QVERIFY(run->measure_floor(floors, [&] { return ++n_asked, false; }).ok());
            QVERIFY(announced > 0);
            QCOMPARE(n_asked, announced);
            QCOMPARE(run->floor_layers(), 0);
            QCOMPARE(floors.size(), size_t(n_wait));
            QVERIFY(!run->floor_due(true));
        }
    }
    void theLanesDoNotNoticeIt() {
        Experiment e = with_floor({"fp16", "fp32", "quanto:4,group=16"}, 100);
        const RunModel with = carry_out(tiny_model(), e);
        e.noise_floor = false;
        const RunModel without = carry_out(tiny_model(), e);
        QVERIFY(without.floors().empty());
        QCOMPARE(without.noise_floor().n, 0);
        for (int lane = 0; lane < 3; ++lane)
            for (size_t i = 0; i < 100; ++i) {
                QCOMPARE(with.lane(lane)[i].nll, without.lane(lane)[i].nll);
                QCOMPARE(with.lane(lane)[i].kl, without.lane(lane)[i].kl);
            }
        auto run = Run::create(tiny_model(), e).value();
        QVERIFY(run->read_prompt().ok());
        std::vector<StepRecord> records;
        std::vector<FloorRecord> floors;
        QVERIFY(*run->next(records));
        QVERIFY(!run->floor_due(true));
        QVERIFY(run->measure_floor(floors).ok() && floors.empty());
    }
    void aStoppedRunHasTheFloorOfItsTokens() {
        const auto model = tiny_model();
        const Experiment e = with_floor({"fp16", "fp32"}, kSteps);
        const RunModel whole = carry_out(model, e);
        for (const bool give_up : {false, true}) {
            auto run = Run::create(model, e).value();
            RunModel measured;
            const auto done = run_to_end(
                *run, *model, measured, {}, [&] { return run->n_done() >= 90; },
                [&] { return give_up && run->n_done() >= 90; });
            QVERIFY(done.ok() && !*done);
            QCOMPARE(measured.lane(0).size(), size_t(90));
            // given up: what the pass before the stop gave is there
            QCOMPARE(measured.floors().size(), size_t(give_up ? 64 : 90));
            for (const FloorRecord& f : measured.floors()) {
                QCOMPARE(f.kl, whole.floor_at(f.step)->kl);
                QCOMPARE(f.delta_logprob, whole.floor_at(f.step)->delta_logprob);
            }
        }
    }
    void theEngineGivesTheSameFloor() {
        Engine engine;
        engine.load_model(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));
        const Experiment e = with_floor({"fp16", "fp32"}, kSteps);
        engine.start(e);
        engine.wait_until_idle();
        QCOMPARE(engine.status().state, EngineState::finished);
        const RunRecords records = engine.drain();
        QCOMPARE(records.steps.size(), size_t(2 * kSteps));
        const RunModel run = carry_out(tiny_model(), e);
        QCOMPARE(records.floors.size(), run.floors().size());
        for (size_t i = 0; i < records.floors.size(); ++i) {
            QCOMPARE(records.floors[i].run, engine.run_info()->serial);
            QCOMPARE(records.floors[i].step, int(i));
            QCOMPARE(records.floors[i].kl, run.floors()[i].kl);
        }
        engine.start(e);  // stopped somewhere: whatever was done until then has its floor
        while (engine.run_info()->serial == records.floors[0].run ||
               (engine.status().n_done < 3 && engine.status().state != EngineState::finished))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        engine.stop();
        engine.wait_until_idle();
        const RunRecords stopped = engine.drain();
        QVERIFY(!stopped.floors.empty());
        QCOMPARE(stopped.floors.size(), stopped.steps.size() / 2);
        engine.start(e);
        engine.stop(false);
        engine.wait_until_idle();
        QVERIFY(engine.status().state == EngineState::stopped || engine.status().state == EngineState::finished);
    }
    void sessionsKeepIt() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("a.kvasir").toStdString();
        const Experiment e = with_floor({"fp16", "fp32"}, 20);
        const RunModel run = carry_out(tiny_model(), e);
        QVERIFY(save_session({e, run, nlohmann::json::object()}, path).ok());
        const auto loaded = load_session(path);
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->run.floors().size(), size_t(20));
        QCOMPARE(loaded->run.noise_floor().kl_mean, run.noise_floor().kl_mean);
        QCOMPARE(loaded->run.noise_floor().nll_max, run.noise_floor().nll_max);
        QCOMPARE(loaded->run.floor_at(19)->attention_error, run.floor_at(19)->attention_error);
        QVERIFY(!run.floor_at(19)->attention_error.empty());
    }
};

QTEST_APPLESS_MAIN(TestNoiseFloor)
#include "tst_noise_floor.moc"
