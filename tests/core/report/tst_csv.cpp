// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/report/csv.h"

using namespace kvasir;

class TestCsv : public QObject {
    Q_OBJECT
 private slots:
    void quoting() {
        QCOMPARE(csv_text("plain"), std::string("plain"));
        QCOMPARE(csv_text("a,b"), std::string("\"a,b\""));
        QCOMPARE(csv_text("say \"x\""), std::string("\"say \"\"x\"\"\""));
        QCOMPARE(csv_text("=1+1"), std::string("'=1+1"));
    }
    void linesAreTheRecords() {
        auto info = std::make_shared<RunInfo>();
        info->experiment.lanes.push_back({parse_cache_spec("quanto:4,residual=32").value(), true});
        info->lanes.resize(1);
        info->lanes[0].requested = "quanto:4,residual=32";
        RunModel run;
        run.begin(info, 1, 1, 64);
        StepRecord a;
        a.position = 9, a.token_id = 4, a.nll = 0.25f, a.kl = 0.125f, a.delta_logprob = -0.5f, a.top1_id = 4,
        a.rank = 2;
        StepRecord b = a;
        b.position = 10, b.comparable = false;
        run.append({a, b});
        QCOMPARE(per_token_csv(run),
                 std::string("lane,position,token_id,nll,kl,delta_logprob,top1_id,top1_agrees,rank\r\n"
                             "\"quanto:4,residual=32\",9,4,0.25,0.125,-0.5,4,1,2\r\n"
                             "\"quanto:4,residual=32\",10,4,0.25,,,4,,2\r\n"));
    }
};

QTEST_APPLESS_MAIN(TestCsv)
#include "tst_csv.moc"
