// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <cmath>
#include <limits>
#include <set>

#include "core/model/sampler.h"

using namespace kvasir;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

Sampling settings(float temperature, int top_k = 0, float top_p = 1, uint64_t seed = 1) {
    return {temperature, top_k, top_p, seed};
}

std::set<int> drawn(const Sampling& s, const std::vector<float>& logits, int n = 3000) {
    Sampler sampler(s);
    std::set<int> ids;
    for (int i = 0; i < n; ++i)
        ids.insert(sampler.pick(logits));
    return ids;
}

}  // namespace

class TestSampler : public QObject {
    Q_OBJECT
 private slots:
    void greedy_takes_the_largest_and_the_smaller_id_of_a_tie() {
        Sampler sampler(settings(0));
        QCOMPARE(sampler.pick(std::vector<float>{1, 5, 3, 5}), 1);
        QCOMPARE(sampler.pick(std::vector<float>{-3, -2}), 1);
    }

    void non_finite_logits_are_passed_over() {
        for (const float temperature : {0.0f, 1.0f}) {
            Sampler sampler(settings(temperature));
            for (int i = 0; i < 20; ++i)
                QCOMPARE(sampler.pick(std::vector<float>{kNaN, kInf, -kInf, -40, kNaN}), 3);
            QCOMPARE(sampler.pick(std::vector<float>{kNaN, -kInf}), 0);
        }
    }

    void a_seed_repeats_its_run() {
        std::vector<float> logits(100);
        for (size_t i = 0; i < logits.size(); ++i)
            logits[i] = float(i % 17) * 0.3f;
        Sampler a(settings(1, 0, 1, 5)), b(settings(1, 0, 1, 5)), c(settings(1, 0, 1, 6));
        int same = 0;
        for (int i = 0; i < 200; ++i) {
            const int id = a.pick(logits);
            QCOMPARE(b.pick(logits), id);
            same += c.pick(logits) == id;
        }
        QVERIFY(same < 50);
    }

    // splitmix64 from seed 0 starts with e220a839…, 6e789e6a…, 06c45d18…, f88bb8a8… (published test values): of two
    // equal tokens these draw the second, first, first, second.
    void the_generator_is_splitmix64() {
        Sampler sampler(settings(1, 0, 1, 0));
        const std::vector<float> even = {0, 0};
        for (const int expected : {1, 0, 0, 1})
            QCOMPARE(sampler.pick(even), expected);
    }

    void frequencies_follow_softmax() {
        const std::vector<float> logits = {0, 1, 2, -1};
        for (const float temperature : {0.5f, 1.0f, 2.0f}) {
            Sampler sampler(settings(temperature));
            std::vector<int> counts(4);
            constexpr int n = 40000;
            for (int i = 0; i < n; ++i)
                ++counts[size_t(sampler.pick(logits))];
            double sum = 0, chi_squared = 0;
            for (const float l : logits)
                sum += std::exp(double(l) / temperature);
            for (size_t i = 0; i < 4; ++i) {
                const double expected = n * std::exp(double(logits[i]) / temperature) / sum;
                chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
            }
            QVERIFY2(chi_squared < 16.3, qPrintable(QString::number(chi_squared)));  // 3 degrees of freedom, p = 0.001
        }
    }

    void top_k_and_top_p_restrict() {
        const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
        QCOMPARE(drawn(settings(1), logits), (std::set<int>{0, 1, 2, 3}));
        QCOMPARE(drawn(settings(1, 2), logits), (std::set<int>{1, 3}));
        QCOMPARE(drawn(settings(1, 1), logits), (std::set<int>{1}));
        QCOMPARE(drawn(settings(1, 99), logits), (std::set<int>{0, 1, 2, 3}));
        QCOMPARE(drawn(settings(1, 0, 0.65f), logits), (std::set<int>{1, 3}));
        QCOMPARE(drawn(settings(1, 0, 0.75f), logits), (std::set<int>{1, 2, 3}));
        QCOMPARE(drawn(settings(1, 0, 0), logits), (std::set<int>{1}));
        // Of the three likeliest, 0.9 in all, two make up more than 0.75 * 0.9.
        QCOMPARE(drawn(settings(1, 3, 0.75f), logits), (std::set<int>{1, 3}));
        QCOMPARE(drawn(settings(1, 2), std::vector<float>{1, 1, 1}), (std::set<int>{0, 1}));
    }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
