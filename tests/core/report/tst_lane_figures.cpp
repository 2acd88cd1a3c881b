// SPDX-License-Identifier: GPL-3.0-or-later
// A lane that failed, stopped, was not read or gave no numbers is never shown as measured, and never the best.
#include <QTemporaryDir>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/report/csv.h"
#include "core/report/perplexity_block.h"
#include "core/report/repeats.h"
#include "core/report/run_table.h"
#include "core/session/lane_figures.h"
#include "core/session/run_fixture.h"
#include "core/session/run_json.h"
#include "core/session/scheme_batches.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

struct Measured {
    std::unique_ptr<Run> run;
    RunModel model;
};

Measured measure(const std::shared_ptr<const Model>& model, const Experiment& e) {
    Measured m;
    auto run = Run::create(model, e);
    if (!run) qFatal("%s", run.error().message().c_str());
    m.run = std::move(*run);
    if (const auto done = run_to_end(*m.run, *model, m.model); !done) qFatal("%s", done.error().message().c_str());
    return m;
}

/// Groups of 64 rows through 2 KV heads: 32 tokens at a time.
const std::string kNeedsWholeGroups = "k=affine4:group=64:axis=rows; v=fp16; residual=10; flush=whole";

/// A copy of the tiny model in which one layer's keys and values do not fit into fp16.
std::string overflowing_model(const QTemporaryDir& folder, const char* tensor) {
    const auto model = tiny_model();
    const std::string from = model->file().path(), to = folder.filePath("overflow.gguf").toStdString();
    std::ifstream in(from, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const GgufTensor* norm = model->file().tensor(tensor);
    if (!norm) qFatal("no such tensor");
    std::string needle(64, '\0');
    if (!model->file().read(*norm, 0, needle.size(), reinterpret_cast<uint8_t*>(needle.data()))) qFatal("not readable");
    const size_t at = bytes.find(needle);
    const float huge = 1e6f;
    for (size_t i = 0; i < 16; ++i)
        std::memcpy(bytes.data() + at + i * sizeof huge, &huge, sizeof huge);
    std::ofstream(to, std::ios::binary) << bytes;
    return to;
}

}  // namespace

class TestLaneFigures : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

 private slots:
    void lengthsThatDoNotDivideAreRefusedBeforeTheRun() {
        for (const char* text : {"quanto:4,axis_key=-1", "quanto:4,group=1000", kNeedsWholeGroups.c_str()}) {
            Experiment e = experiment({"fp16", text}, 20);
            e.prefill = 24;
            const Measured m = measure(tiny_model(), e);
            QVERIFY2(m.model.info().lanes[1].failed, text);
            QVERIFY(m.model.lane(1).empty());
            QVERIFY(!all_lanes_measured(m.model) && lane_trouble(m.model, 0).empty());
            QVERIFY(lane_figures(m.model, 1).ppl.state == Figure::State::failed);
        }
        // The prompt divides, the flushes after it do not; without one the scheme runs.
        Experiment e = experiment({"fp16", kNeedsWholeGroups}, 20);
        e.prefill = 32;
        QVERIFY(measure(tiny_model(), e).model.info().lanes[1].failed);
        e.n_tokens = 10;
        QVERIFY(!measure(tiny_model(), e).model.info().lanes[1].failed);
    }
    void aLaneThatStoppedHasNoFiguresAnywhere() {
        Measured m = measure(tiny_model(), experiment({"fp16", "quanto:2,group=16"}, 16));
        QVERIFY(m.model.summary(1).n_scored == 16 && all_lanes_measured(m.model));
        m.model.append(std::vector<LaneStop>{{m.model.info().serial, 1, "the disk of the moon is full"}});
        QCOMPARE(m.model.summary(1).n_scored, 0);
        QVERIFY(!all_lanes_measured(m.model));
        for (const Figure& f : {lane_figures(m.model, 1).kl, lane_figures(m.model, 1).ppl,
                                lane_figures(m.model, 1).top1, lane_figures(m.model, 1).tokens_per_second})
            QVERIFY(f.state == Figure::State::failed && f.reason.find("moon") != std::string::npos);
        const std::string table = run_table(m.model, *m.run);
        QVERIFY2(table.find("stopped after 16 of 16: the disk") != std::string::npos, table.c_str());
        const auto lane = run_lanes_json(m.model, *m.run)[1];
        QVERIFY(!lane.contains("ppl") && !lane.contains("kl_mean") && lane["active"].is_null());
        QVERIFY(lane["why"].get<std::string>().find("moon") != std::string::npos);
        QVERIFY(perplexity_blocks(m.model).find("Mean PPL") == std::string::npos);
        QVERIFY(per_token_csv(m.model).find("quanto") == std::string::npos);
        Repeats repeats;
        repeats.add(m.model);
        QVERIFY(!repeats.lane(1).contains("nll_mean") && repeats.lane(1).contains("why"));
        QVERIFY(repeats.lane(0).contains("nll_mean"));
        // And a saved session still knows it.
        const RunModel again = read_run(run_to_json(m.model), m.model.info().experiment);
        QVERIFY(again.failure(1) == m.model.failure(1) && again.failure(0).empty());
    }
    void anotherRunsStopIsNotMine() {
        Measured m = measure(tiny_model(), experiment({"fp16"}, 4));
        m.model.append(std::vector<LaneStop>{{m.model.info().serial + 1, 0, "x"}});
        QVERIFY(m.model.failure(0).empty());
    }
    void nothingReadIsNotMeasured() {
        // A window over everything: KIVI's keys and values never leave it.
        Measured m = measure(tiny_model(), experiment({"fp16", "kivi:2,group=16,residual=512", "fp32"}, 16));
        const LaneFigures f = lane_figures(m.model, 1);
        QVERIFY(f.kl.state == Figure::State::not_read && f.top1.state == Figure::State::not_read);
        QVERIFY(f.ppl.is_number() && f.kl.n == 16);
        const std::string table = run_table(m.model, *m.run);
        QVERIFY2(table.find("0 % read") != std::string::npos, table.c_str());
        const auto lane = run_lanes_json(m.model, *m.run)[1];
        QVERIFY(lane["kl_mean"].is_null() && lane["top1_agreement"].is_null() && lane["kl_ci95"].is_null());
        QCOMPARE(lane["figures"]["kl_mean"]["state"], nlohmann::json("0 % read"));
        QVERIFY(lane_figures(m.model, 2).kl.is_number());  // exact: there is nothing to read
        QVERIFY(all_lanes_measured(m.model));              // it is no failure
        const RunModel again = read_run(run_to_json(m.model), m.model.info().experiment);
        QVERIFY(lane_figures(again, 1).kl.state == Figure::State::not_read);
        QVERIFY(lane_figures(again, 2).kl.is_number());
    }
    void theFirstTokenOfALaneReadsNothingUnlessItQuantizesAsItWrites() {
        const Measured m = measure(tiny_model(), experiment({"fp16", "quanto:2,group=16", "fp8"}, 1));
        QVERIFY(lane_figures(m.model, 1).kl.state == Figure::State::not_read);
        QVERIFY(lane_figures(m.model, 2).kl.is_number());
    }
    void tokensBeforeAnythingWasReadAreCounted() {
        Measured m =
            measure(tiny_model(), experiment({"fp16", "quanto:2,group=16", "kivi:2,group=16,residual=16", "fp8"}, 30));
        const LaneFigures quanto = lane_figures(m.model, 1), kivi = lane_figures(m.model, 2);
        QCOMPARE(quanto.kl.n, 30);
        QCOMPARE(quanto.kl.n_unread, 1);  // the prompt pass reads exact values
        QVERIFY(kivi.kl.is_number() && kivi.kl.n_unread >= 3);
        for (int step = 0; step < 30; ++step)
            QCOMPARE(token_kl(m.model, 2, m.model.lane(2)[size_t(step)]).is_number(), step >= kivi.kl.n_unread);
        QCOMPARE(lane_figures(m.model, 0).kl.n_unread, 0);
        QCOMPARE(lane_figures(m.model, 3).kl.n_unread, 0);
        const auto lanes = run_lanes_json(m.model, *m.run);
        QCOMPARE(lanes[2]["n_unread"], nlohmann::json(kivi.kl.n_unread));
        QCOMPARE(lanes[2]["figures"]["kl_mean"]["n_unread"], nlohmann::json(kivi.kl.n_unread));
        const std::string table = run_table(m.model, *m.run);
        QVERIFY2(table.find("residual=16: ") != std::string::npos &&
                     table.find("compared tokens came before anything was read") != std::string::npos,
                 table.c_str());
        QVERIFY2(table.find("quanto:2,group=16: ") == std::string::npos, table.c_str());  // 1 of 30
    }
    void everyMeanSaysItsTokens() {
        Experiment e = experiment({"fp16", "hadamard-ternary,v_residual=0,k=quanto:2"}, 24);
        e.lanes[1].spec = parse_cache_spec("k=affine1:group=16; v=affine1:group=16; residual=2; flush=whole").value();
        e.score_text = false, e.mode = Mode::free_running, e.min_tokens = 24;
        e.prompt = "the keeper wrote down the names of";
        const Measured m = measure(tiny_model(), e);
        const LaneFigures f = lane_figures(m.model, 1);
        QVERIFY2(f.kl.n < f.ppl.n, "the lane never left the reference's text");
        QCOMPARE(f.kl.n, m.model.summary(1).n_comparable);
        const std::string words = tokens_by_lane(m.model);
        QVERIFY2(words.find(std::to_string(f.kl.n) + " of 24") != std::string::npos, words.c_str());
        const std::string table = run_table(m.model, *m.run);
        QVERIFY2(table.find("not comparable with the others") != std::string::npos, table.c_str());
        QCOMPARE(tokens_by_lane(carry_out(tiny_model(), experiment({"fp16", "fp32"}, 5))),
                 std::string("5 tokens compared"));
    }
    void schemesThatAreNotReadStandOnNoFront() {
        Experiment e = experiment({}, 12);
        const auto parsed = [](const char* text) { return parse_cache_spec(text).value(); };
        const auto out = evaluate_schemes(
            tiny_model(), e,
            {parsed("quanto:2,group=16"), parsed("kivi:2,group=16,residual=512"), parsed("quanto:4,group=1000")}, 4);
        QVERIFY(out);
        QVERIFY(out->schemes[0].measured() && !out->schemes[1].measured() && !out->schemes[2].measured());
        QVERIFY(out->schemes[1].failure.empty() && !out->schemes[1].why.empty());
        QVERIFY(!out->schemes[2].failure.empty() && out->any_failed());
    }
    void anOverflowNamesItsLayerAndSideAndAgreesWithNothing() {
        const auto model = load(overflowing_model(folder_, "blk.1.attn_norm.weight"));
        const Measured m = measure(model, experiment({"fp16", "fp32", "quanto:4,group=16"}, 6));
        const auto found = m.run->cache(0)->non_finite();
        QVERIFY(found && found->layer == 1);
        for (const int lane : {0, 2}) {
            QVERIFY(!lane_trouble(m.model, lane).empty());
            QVERIFY(lane_figures(m.model, lane).kl.state == Figure::State::not_a_number);
            QVERIFY(lane_figures(m.model, lane).top1.state == Figure::State::not_a_number);
            for (const StepRecord& r : m.model.lane(lane))
                QVERIFY(!r.top1_agrees && std::isnan(r.kl) && r.rank > 0);
        }
        QVERIFY(run_table(m.model, *m.run).find("not a number") != std::string::npos);
        // Free to choose, the reference has nothing to choose from.
        Experiment e = experiment({"fp16"}, 6);
        e.score_text = false, e.prompt = "the keeper";
        auto run = Run::create(model, e);
        QVERIFY(run);
        RunModel measured;
        const auto done = run_to_end(**run, *model, measured);
        QVERIFY(!done);
        const std::string message = done.error().message();
        const char* where =
            found->side == Side::k ? "the keys of layer 1 overflowed" : "the values of layer 1 overflowed";
        QVERIFY2(message.find(where) != std::string::npos, message.c_str());
        // The way out that it names: fp32 overflows later.
        QVERIFY2(message.find("Use fp32") != std::string::npos, message.c_str());
        e.lanes = experiment({"fp32"}, 6).lanes;
        run = Run::create(model, e);
        QVERIFY(run);
        RunModel again;
        QVERIFY(run_to_end(**run, *model, again));
        QCOMPARE(again.lane(0).size(), size_t(6));
    }
};

QTEST_APPLESS_MAIN(TestLaneFigures)
#include "tst_lane_figures.moc"
