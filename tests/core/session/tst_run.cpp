// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include "core/session/run_fixture.h"

using namespace kvasir;
using namespace kvasir::test;

class TestRun : public QObject {
    Q_OBJECT
 private slots:
    void lanesFollowTheReferenceWhenForced() {
        const RunModel run = carry_out(tiny_model(), experiment({"fp16", "fp32"}, 12));
        QCOMPARE(run.lane(0).size(), size_t(12));
        QCOMPARE(run.lane(1).size(), size_t(12));
        for (size_t i = 0; i < 12; ++i) {
            QCOMPARE(run.lane(0)[i].token_id, run.lane(1)[i].token_id);
            QCOMPARE(run.lane(0)[i].kl, 0.0f);
            QVERIFY(run.lane(1)[i].comparable);
            QVERIFY(run.lane(1)[i].kl < 1e-3f);
            QCOMPARE(run.lane(1)[i].position, int(run.info().prompt_ids.size()) + int(i));
            QCOMPARE(run.lane(1)[i].attention_error.size(), i == 0 ? size_t(0) : size_t(run.n_layers()));
        }
    }
    void bytesFollowTheFormula() {
        const RunModel run = carry_out(tiny_model(), experiment({"fp16"}, 5));
        const StepRecord& r = run.lane(0).back();
        const size_t per_token = 2u * 2u * size_t(run.n_layers() * run.n_kv_heads() * run.head_dim());
        QCOMPARE(r.bytes.codes + r.bytes.residual, per_token * size_t(r.n_cached));
    }
    void samplingRepeats() {
        Experiment e = experiment({"fp16", "fp32"}, 16);
        e.score_text = false;
        e.prompt = "the keeper";
        e.mode = Mode::free_running;
        e.sampling.temperature = 1;
        e.sampling.seed = 11;
        const auto ids = [](const RunModel& r) {
            std::vector<int> out;
            for (const auto& s : r.lane(0))
                out.push_back(s.token_id);
            return out;
        };
        const auto a = ids(carry_out(tiny_model(), e)), b = ids(carry_out(tiny_model(), e));
        QCOMPARE(a, b);
        e.sampling.seed = 12;
        QVERIFY(ids(carry_out(tiny_model(), e)) != a);
    }
    void textsEndAtTheirStopIdsButNotTooEarly() {
        Experiment e = experiment({"fp16"}, 16);
        e.score_text = false;
        e.prompt = "the keeper";
        const RunModel free = carry_out(tiny_model(), e);
        QVERIFY(free.lane(0).size() > 3);
        const int third = free.lane(0)[2].token_id;
        e.stop_ids = {third};
        const RunModel stopped = carry_out(tiny_model(), e);
        QCOMPARE(stopped.lane(0).back().token_id, third);
        QVERIFY(stopped.lane(0).size() <= 3);
        e.min_tokens = int(stopped.lane(0).size());
        const RunModel later = carry_out(tiny_model(), e);
        QVERIFY(later.lane(0).size() > stopped.lane(0).size());
        QVERIFY(later.lane(0)[stopped.lane(0).size() - 1].token_id != third);
    }
    void oneBlindForwardIsRefusedWhereItReadsTheCache() {
        const auto model = tiny_model();
        const std::vector<int> ids = model->encode_prompt(experiment({"fp16"}, 4).prompt, false);
        const auto blind = [&](const char* text) {
            return blind_nll(model, parse_cache_spec(text).value(), ids, 8, 2);
        };
        const std::vector<double> exact = blind("fp16").value();
        QCOMPARE(exact.size(), ids.size() - 8);
        for (const char* text : {"quanto:2,group=16", "quanto:2,group=16,layers=0:fp16",
                                 "k=affine2:group=16; v=affine2:group=16; residual=4; flush=slide; score=after_flush"})
            QCOMPARE(blind(text).value(), exact);
        for (const char* text : {"fp8", "quanto:2,group=16,layers=0:fp8", "fp16,layers_v=1:fp8"}) {
            const auto refused = blind(text);
            QVERIFY2(!refused, text);
            QVERIFY(refused.error().why.find("quantizes as it writes") != std::string::npos);
        }
    }
    void badInputIsOneSentence() {
        const auto model = tiny_model();
        const auto refused = [&](Experiment e) {
            const auto run = Run::create(model, e);
            return run ? std::string() : run.error().message();
        };
        Experiment e = experiment({"fp16"}, 4);
        e.score_text = false;
        e.prompt.clear();
        QVERIFY(refused(e).find("empty") != std::string::npos);
        e.prompt = std::string(200000, 'x');
        QVERIFY(refused(e).find("context") != std::string::npos);
        e = experiment({"fp16"}, 0);
        e.score_text = false;
        e.prompt = "the keeper";
        QVERIFY(!refused(e).empty());
        e = experiment({"fp16"}, 4);
        e.lanes[0].enabled = false;
        QVERIFY(refused(e).find("reference") != std::string::npos);
        e = experiment({"fp16"}, 4);
        e.prefill = 1000;
        QVERIFY(refused(e).find("prompt") != std::string::npos);
    }
    void aLaneThatCannotStoreTheModelDoesNotStopTheOthers() {
        // head_dim 16: KIVI values need whole groups of 32 channels.
        const RunModel run = carry_out(tiny_model(), experiment({"fp16", "kivi:4", "fp32"}, 6));
        QVERIFY(run.info().lanes[1].failed);
        QVERIFY(!run.info().lanes[1].why.empty());
        QCOMPARE(run.lane(2).size(), size_t(6));
    }
    void firstStartDemonstration() {
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        const RunModel run = carry_out(model, Experiment::first_start());
        std::vector<std::string> texts;
        for (int i = 0; i < run.n_lanes(); ++i) {
            std::string text;
            for (const StepRecord& r : run.lane(i))
                text += run.piece_of(r.token_id);
            texts.push_back(text);
        }
        // What resources/prompts.json says of this prompt, found robust in four independent runs of the originals.
        const std::vector<std::string> names{"Samuel Pike", "Dorothea Vance", "Oskar Lindqvist", "Mira Sandhu",
                                             "Pavel Novak", "Ines Haddad",    "Theodore Marsh",  "Clementine Roux"};
        for (const std::string& name : names) {
            QVERIFY2(texts[0].find(name) != std::string::npos, name.c_str());
            QVERIFY2(texts[3].find(name) != std::string::npos, name.c_str());
        }
        QVERIFY(texts[1].find("Oskar Lindqvist") == std::string::npos);
        QVERIFY(texts[2].find("Dorothea Vance") == std::string::npos);
        QCOMPARE(run.summary(1).first_flip, 9);
    }
    void anExactLaneIsBookedNoQuantizing() {
        const RunModel run = carry_out(tiny_model(), experiment({"fp16", "hqq:4,group=16,residual=2"}, 12));
        double quantizing = 0;
        for (size_t i = 0; i < 12; ++i) {
            QCOMPARE(run.lane(0)[i].time.quantize, 0.0);
            quantizing += run.lane(1)[i].time.quantize;
        }
        QVERIFY(quantizing > 0);
    }
    void oneErrorThatIsNoNumberShowsInTheSummary() {
        RunModel run = carry_out(tiny_model(), experiment({"fp16", "fp32"}, 6));
        QVERIFY(std::isfinite(run.summary(1).kl_max) && run.steps_per_second() > 0);
        StepRecord r = run.lane(1).back();
        r.kl = std::numeric_limits<float>::quiet_NaN();
        run.append({r});
        QVERIFY(std::isnan(run.summary(1).kl_max) && std::isnan(run.summary(1).kl_mean));
    }
    void anotherSumOrderIsTheNoiseFloor() {
        Experiment e = experiment({"fp16", "fp32"}, 12);
        e.noise_floor = true;
        const RunModel measured = carry_out(tiny_model(), e);
        const NoiseFloor floor = measured.noise_floor();
        QCOMPARE(floor.n, 12);
        QVERIFY2(floor.nll_max > 0, "another order of the sums gave the same bits");
        QVERIFY(floor.kl_mean >= 0 && floor.kl_mean < 1e-6);
        e.sum_order = 1;
        e.noise_floor = false;
        const RunModel other = carry_out(tiny_model(), e);
        QCOMPARE(other.noise_floor().n, 0);
        bool moved = false;
        for (size_t i = 0; i < 12; ++i) {
            const StepRecord &a = measured.lane(0)[i], &b = other.lane(0)[i];
            // The noise floor's pass is that very run; the nlls are floats, the difference of log-probabilities is not.
            const float delta = measured.floors()[i].delta_logprob;
            QVERIFY(std::abs((double(b.nll) - a.nll) + delta) <= 1e-6);
            moved |= delta != 0;
        }
        QVERIFY(moved);
    }
};

QTEST_APPLESS_MAIN(TestRun)
#include "tst_run.moc"
