// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/report/scheme_walk.h"

using namespace kvasir;

class TestSchemeWalk : public QObject {
    Q_OBJECT
 private slots:
    /// Both kernel paths agree wherever 200 random schemes lead, and refusals have reasons. Runs under the sanitizers.
    void twoHundredPoints() {
        const SchemeWalk walk = walk_schemes(200, 2026);
        qInfo("%d points, %d more were refused, worst %.3f of the bound (%s)", walk.n_points, walk.n_refused,
              walk.worst, walk.worst_spec.c_str());
        QVERIFY2(walk.problem.empty(), walk.problem.c_str());
        QCOMPARE(walk.n_points, 200);
        QVERIFY(walk.n_refused > 0);
        QVERIFY2(walk.worst <= 1, walk.worst_spec.c_str());
    }
};

QTEST_APPLESS_MAIN(TestSchemeWalk)
#include "tst_scheme_walk.moc"
