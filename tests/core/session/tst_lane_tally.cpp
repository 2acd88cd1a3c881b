// SPDX-License-Identifier: GPL-3.0-or-later
// The figures kept while records come are those of the whole run.
#include <QTest>
#include <random>

#include "core/session/lane_tally.h"

using namespace kvasir;

class TestLaneTally : public QObject {
    Q_OBJECT

    static std::shared_ptr<RunModel> newRun(uint64_t serial) {
        auto info = std::make_shared<RunInfo>();
        info->serial = serial;
        info->experiment = Experiment::first_start();
        info->lanes.resize(info->experiment.lanes.size());
        auto run = std::make_shared<RunModel>();
        run->begin(info, 3, 2, 64);
        return run;
    }
    static void grow(RunModel& run, int step, std::mt19937& random) {
        std::uniform_real_distribution<float> unit(0, 1);
        for (int lane = 0; lane < run.n_lanes(); ++lane) {
            StepRecord r;
            r.run = run.info().serial;
            r.lane = lane, r.step = step;
            r.nll = 3 * unit(random), r.kl = unit(random), r.delta_logprob = unit(random) - 0.5f;
            r.probability = unit(random), r.reference_probability = unit(random);
            r.comparable = lane == 0 || step < 20 * lane;
            r.top1_agrees = unit(random) < 0.8f;
            r.bytes.codes = uint64_t(100 * step), r.n_cached = 10 + step;
            if (step > 0) r.time.matmul = 1e6 * double(unit(random));
            run.append({r});
        }
        if (step % 3 == 0) run.append(std::vector<FloorRecord>{{run.info().serial, step, unit(random), 0}});
    }

 private slots:
    void saysWhatTheWholeRunSays() {
        std::mt19937 random(5);
        std::vector<LaneTally> tallies(4);
        for (const uint64_t serial : {1, 2}) {  // a tally that goes on with another run begins again
            const auto run = newRun(serial);
            for (int step = 0; step < 70; ++step) {
                grow(*run, step, random);
                if (step % 5) continue;
                for (int lane = 0; lane < 4; ++lane) {
                    LaneTally& tally = tallies[size_t(lane)];
                    tally.catchUp(run, lane);
                    const LaneSummary a = tally.summary(), b = run->summary(lane);
                    QCOMPARE(a.n_scored, b.n_scored);
                    QCOMPARE(a.n_comparable, b.n_comparable);
                    QVERIFY(a.nll_mean == b.nll_mean && a.ppl == b.ppl && a.dnll_mean == b.dnll_mean);
                    QVERIFY(a.kl_mean == b.kl_mean && a.top1_agreement == b.top1_agreement && a.rms_dp == b.rms_dp);
                    QVERIFY(a.tokens_per_second == b.tokens_per_second && a.effective_bits == b.effective_bits);
                    QCOMPARE(a.n_unread, b.n_unread);
                    QCOMPARE(a.first_flip, b.first_flip);
                    QCOMPARE(a.bytes.total(), b.bytes.total());
                    QVERIFY(tally.floor_kl_mean() == run->noise_floor().kl_mean);
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestLaneTally)
#include "tst_lane_tally.moc"
