// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>
#include <random>
#include <vector>

#include "core/measure/divergence.h"

using namespace kvasir;

namespace {

std::vector<float> random_logits(int n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 4);
    std::vector<float> x(static_cast<size_t>(n));
    for (float& v : x)
        v = normal(random);
    return x;
}

double plain_kl(const std::vector<float>& a, const std::vector<float>& b) {
    long double za = 0, zb = 0, kl = 0;
    for (float v : a)
        za += std::exp((long double)v);
    for (float v : b)
        zb += std::exp((long double)v);
    for (size_t i = 0; i < a.size(); ++i)
        kl += std::exp((long double)a[i]) / za * ((a[i] - std::log(za)) - (b[i] - std::log(zb)));
    return double(kl);
}

}  // namespace

class TestDivergence : public QObject {
    Q_OBJECT
 private slots:
    void knownDistribution() {
        // p = 1/2, 1/4, 1/8, 1/16, 1/16
        const std::vector<float> logits{std::log(8.0f), std::log(4.0f), std::log(2.0f), 0, 0};
        const Prediction p = predict(logits);
        QCOMPARE(p.top[0].id, 0);
        QVERIFY(std::abs(p.top[0].probability - 0.5) < 1e-6);
        QVERIFY(std::abs(p.log_prob(3) - std::log(1.0 / 16)) < 1e-6);
        QVERIFY(std::abs(p.margin() - std::log(2.0)) < 1e-6);
        QCOMPARE(p.rank(0), 0);
        QCOMPARE(p.rank(2), 2);
        QCOMPARE(p.rank(4), 3);  // ties share the better rank
    }
    void topFiveMatchesASort() {
        const auto logits = random_logits(4099, 7);
        std::vector<int> order(logits.size());
        for (size_t i = 0; i < order.size(); ++i)
            order[i] = int(i);
        std::sort(order.begin(), order.end(), [&](int a, int b) { return logits[size_t(a)] > logits[size_t(b)]; });
        const Prediction p = predict(logits);
        for (size_t i = 0; i < 5; ++i) {
            QCOMPARE(p.top[i].id, order[i]);
            QCOMPARE(p.rank(order[i]), int(i));
        }
    }
    void aVocabularyMayBeSmallerThanTheTopFive() {
        for (size_t n = 1; n <= 5; ++n) {
            std::vector<float> logits(n);
            for (size_t i = 0; i < n; ++i)
                logits[i] = float(i);  // the last is the most likely
            const Prediction p = predict(logits);
            for (size_t i = 0; i < p.top.size(); ++i)
                QCOMPARE(p.top[i].id, i < n ? int(n - 1 - i) : -1);
            QCOMPARE(kl_divergence(p, p), 0.0);
        }
    }
    void equalLogitsGoToTheSmallerId() {
        const Prediction p = predict(std::vector<float>(10, 1.0f));
        for (int i = 0; i < 5; ++i)
            QCOMPARE(p.top[size_t(i)].id, i);
    }
    void klAgainstLongDouble() {
        const auto a = random_logits(5000, 1);
        auto b = a;
        for (size_t i = 0; i < b.size(); ++i)
            b[i] += float(std::sin(double(i))) * 0.3f;
        const double want = plain_kl(a, b), got = kl_divergence(predict(a), predict(b));
        QVERIFY2(std::abs(got - want) < 1e-5 * want, qPrintable(QString("%1 %2").arg(got).arg(want)));
        QVERIFY(kl_divergence(predict(a), predict(a)) < 1e-9);
        QVERIFY(kl_divergence(predict(a), predict(random_logits(5000, 2))) > 1);
    }
    void klOfNanIsNan() {
        const auto a = random_logits(49, 4);  // eights, and one that is left
        for (const size_t at : {size_t(3), size_t(48)}) {
            auto b = a;
            b[at] = NAN;
            QVERIFY(std::isnan(kl_divergence(predict(a), predict(b))));
            QVERIFY(std::isnan(kl_divergence(predict(b), predict(a))));
        }
    }
    void klOfNearlyEqualIsNotNoise() {
        const auto a = random_logits(49152, 3);
        auto b = a;
        for (size_t i = 0; i < b.size(); ++i)
            b[i] += float(std::cos(double(i))) * 1e-3f;
        const double want = plain_kl(a, b), got = kl_divergence(predict(a), predict(b));
        QVERIFY2(std::abs(got - want) < 0.1 * want, qPrintable(QString("%1 %2").arg(got).arg(want)));
    }
};

QTEST_APPLESS_MAIN(TestDivergence)
#include "tst_divergence.moc"
