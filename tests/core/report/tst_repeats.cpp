// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/report/csv.h"
#include "core/report/repeats.h"

using namespace kvasir;

class TestRepeats : public QObject {
    Q_OBJECT
    /// One lane, one layer, two tokens.
    static RunModel draw(float nll0, float nll1, float kl) {
        auto info = std::make_shared<RunInfo>();
        info->experiment.lanes.push_back({parse_cache_spec("kivi:2").value(), true});
        info->lanes.resize(1);
        info->lanes[0].requested = "kivi:2";
        RunModel run;
        run.begin(info, 1, 1, 64);
        StepRecord a;
        a.nll = nll0, a.kl = kl;
        StepRecord b = a;
        b.step = 1, b.nll = nll1;
        run.append({a, b});
        return run;
    }

 private slots:
    void spreadOfMeansAndTokens() {
        Repeats repeats;
        repeats.add(draw(1, 2, 0.5f));
        repeats.add(draw(2, 2.5f, 0.25f));
        QCOMPARE(repeats.size(), 2);
        QCOMPARE(repeats.nll_range(0, 0), (std::pair<float, float>(1, 2)));
        QCOMPARE(repeats.nll_range(0, 1), (std::pair<float, float>(2, 2.5f)));
        const auto j = repeats.lane(0);
        QCOMPARE(j["nll_mean"]["mean"].get<double>(), (1.5 + 2.25) / 2);
        QCOMPARE(j["nll_mean"]["min"].get<double>(), 1.5);
        QCOMPARE(j["nll_mean"]["max"].get<double>(), 2.25);
        QCOMPARE(j["nll_mean"]["sd"].get<double>(), 0.75 / std::sqrt(2.0));
        QCOMPARE(j["kl_mean"]["mean"].get<double>(), 0.375);
        QCOMPARE(j["nll_range_per_token"]["median"].get<double>(), 0.75);
        QCOMPARE(j["nll_range_per_token"]["max"].get<double>(), 1.0);
    }
    void columnsOfTheCsv() {
        Repeats repeats;
        const RunModel first = draw(1, 2, 0.5f);
        repeats.add(first);
        repeats.add(draw(2, 2.5f, 0.25f));
        const std::string csv = per_token_csv(first, &repeats);
        QVERIFY(csv.find("rank,nll_min,nll_max\r\n") != std::string::npos);
        QVERIFY(csv.find(",0,1,2\r\n") != std::string::npos);
        QVERIFY(csv.find(",0,2,2.5\r\n") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestRepeats)
#include "tst_repeats.moc"
