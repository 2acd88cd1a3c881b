// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>

#include "core/measure/pareto.h"

using namespace kvasir;

class TestPareto : public QObject {
    Q_OBJECT
    static std::vector<bool> front(const std::vector<Tradeoff>& points) { return pareto_front(points); }

 private slots:
    void dominatedPointsAreOff() {
        //                     best bytes  between   beaten by it  best error  same error, dearer
        QCOMPARE(front({{1, 9}, {2, 5}, {3, 6}, {4, 1}, {5, 1}}), (std::vector<bool>{true, true, false, true, false}));
    }
    void equalPointsStandTogether() {
        QCOMPARE(front({{2, 2}, {2, 2}, {2, 3}, {3, 2}}), (std::vector<bool>{true, true, false, false}));
    }
    void nothingAndNoNumber() {
        QVERIFY(front({}).empty());
        QCOMPARE(front({{NAN, 0}, {1, NAN}, {5, 5}}), (std::vector<bool>{false, false, true}));
    }
    /// The order of the points does not matter, and every point off the front is beaten by one on it.
    void definition() {
        std::vector<Tradeoff> points;
        for (int i = 0; i < 40; ++i)
            points.push_back({double(i * 17 % 23), double(i * 29 % 31)});
        const auto on = front(points);
        for (size_t i = 0; i < points.size(); ++i) {
            bool beaten = false;
            for (size_t j = 0; j < points.size(); ++j)
                beaten |= on[j] && points[j].cost <= points[i].cost && points[j].error <= points[i].error &&
                          (points[j].cost < points[i].cost || points[j].error < points[i].error);
            QCOMPARE(bool(on[i]), !beaten);
        }
        std::vector<Tradeoff> backwards(points.rbegin(), points.rend());
        auto reversed = front(backwards);
        std::reverse(reversed.begin(), reversed.end());
        QCOMPARE(reversed, on);
    }
};

QTEST_APPLESS_MAIN(TestPareto)
#include "tst_pareto.moc"
