// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>
#include <random>

#include "core/measure/statistics.h"

using namespace kvasir;

class TestStatistics : public QObject {
    Q_OBJECT
 private slots:
    void quantiles() {
        QCOMPARE(quantile({3, 1, 2}, 0.5), 2.0);
        QCOMPARE(quantile({4, 1, 2, 3}, 0.5), 2.5);
        QCOMPARE(quantile({5, 1}, 1.0), 5.0);
        QCOMPARE(quantile({}, 0.5), 0.0);
        QVERIFY(std::isnan(quantile({1, NAN, 2}, 0)));
    }
    void theLargestIsNanWhenOneIs() {
        QCOMPARE(largest_or_nan({1, 3, 2}), 3.0);
        QCOMPARE(largest_or_nan({-2, -INFINITY}), -2.0);
        QVERIFY(std::isnan(largest_or_nan({1, NAN})));
        QVERIFY(std::isnan(largest_or_nan({NAN, 1})));
        QVERIFY(std::isnan(largest_or_nan({1, NAN, INFINITY})));
    }
    void relativeErrorIsOfTheNorms() {
        QCOMPARE(relative_error(std::vector<float>{3, 4}, std::vector<float>{0, 4}), 0.75);
        QCOMPARE(relative_error(std::vector<float>{1, 2}, std::vector<float>{1, 2}), 0.0);
        QCOMPARE(relative_error(std::vector<float>{1, 2}, std::vector<float>{0, 0}), 0.0);
    }
    void moments() {
        const std::vector<float> x{-1, 1, -1, 1};
        const ValueStatistics s = value_statistics(x);
        QCOMPARE(s.mean, 0.0);
        QCOMPARE(s.sigma, 1.0);
        QCOMPARE(s.kurtosis, 1.0);
        QCOMPARE(s.max_over_sigma, 1.0);
    }
    void sampleDeviation() {
        QCOMPARE(sample_deviation(std::vector<double>{1, 2, 3, 4}), std::sqrt(5.0 / 3));
        QCOMPARE(sample_deviation(std::vector<double>{7}), 0.0);
    }
    void normalKurtosisIsThree() {
        std::mt19937 random(5);
        std::normal_distribution<float> normal(2, 3);
        std::vector<float> x(200000);
        for (float& v : x)
            v = normal(random);
        const ValueStatistics s = value_statistics(x);
        QVERIFY(std::abs(s.kurtosis - 3) < 0.1);
        QVERIFY(std::abs(s.sigma - 3) < 0.05);
    }
    void histogramKeepsEveryValue() {
        const std::vector<float> x{-5, 0, 0.1f, 0.99f, 1, 7, NAN};
        const auto counts = histogram(x, 0, 1, 4);
        QCOMPARE(counts[0], 3u);  // -5, 0, 0.1
        QCOMPARE(counts[3], 3u);  // 0.99, 1, 7
        QCOMPARE(counts[1] + counts[2], 0u);
        QCOMPARE(histogram(x, 1, 1, 4), (std::vector<uint32_t>{0, 0, 0, 0}));
    }
    void bootstrapCoversTheMeanAndRepeats() {
        std::vector<double> x;
        for (int i = 0; i < 512; ++i)
            x.push_back(std::sin(i * 0.7) + 2);
        const auto a = bootstrap_ci95(x), b = bootstrap_ci95(x);
        QCOMPARE(a, b);
        QVERIFY(a.first < mean(x) && mean(x) < a.second);
        QVERIFY(a.second - a.first < 0.3);
        QVERIFY(bootstrap_ci95(x, {.seed = 1}) != a);
        const auto constant = bootstrap_ci95(std::vector<double>(20, 4.0));
        QCOMPARE(constant.first, 4.0);
        QCOMPARE(constant.second, 4.0);
    }
    void bootstrapOfPairsIsTranslationOfTheirMean() {
        // The same seed takes the same places, so a lane that is worse by the same amount everywhere has the same
        // interval, moved.
        std::vector<double> x, worse;
        for (int i = 0; i < 100; ++i)
            x.push_back(std::sin(i * 1.3)), worse.push_back(x.back() + 0.5);
        const auto a = bootstrap_ci95(x), b = bootstrap_ci95(worse);
        QVERIFY(std::abs(b.first - a.first - 0.5) < 1e-12);
        QVERIFY(std::abs(b.second - a.second - 0.5) < 1e-12);
    }
    void blocksKeepTheCorrelationOfNeighbours() {
        // 32 stretches of 16 equal values are 32 independent ones: an interval from single values is 4 times too short.
        std::vector<double> x;
        std::mt19937 random(3);
        std::normal_distribution<double> normal;
        for (int stretch = 0; stretch < 32; ++stretch)
            x.insert(x.end(), 16, normal(random));
        const auto width = [&](int block) {
            const auto [low, high] = bootstrap_ci95(x, {.block = block});
            return high - low;
        };
        const double theory = 2 * 1.96 / std::sqrt(32.0);
        QVERIFY(width(16) > 0.6 * theory && width(16) < 1.4 * theory);
        QVERIFY(width(1) < 0.5 * width(16));
    }
};

QTEST_APPLESS_MAIN(TestStatistics)
#include "tst_statistics.moc"
