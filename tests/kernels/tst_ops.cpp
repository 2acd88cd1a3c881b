// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/cpu/machine.h"
#include "kernels/cpu/ops.h"
#include "kernels/cuda/cuda.h"

using namespace kvasir::kernels;

namespace {

std::vector<float> normal(int n, float deviation = 1.0f, unsigned seed = 7) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> distribution(0.0f, deviation);
    std::vector<float> v;
    for (int i = 0; i < n; ++i)
        v.push_back(distribution(engine));
    return v;
}

double exact_log_sum_exp(const std::vector<float>& x) {
    const double top = double(*std::max_element(x.begin(), x.end()));
    double sum = 0;
    for (float v : x)
        sum += std::exp(double(v) - top);
    return top + std::log(sum);
}

// KL in double, by the sum of non-negative terms that is accurate for close distributions as well.
double exact_divergence(const std::vector<float>& a, const std::vector<float>& b) {
    const double la = exact_log_sum_exp(a), lb = exact_log_sum_exp(b);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double d = (double(a[i]) - la) - (double(b[i]) - lb);
        sum += std::exp(double(a[i]) - la) * (d + std::expm1(-d));
    }
    return sum;
}

constexpr int kLengths[] = {1, 5, 8, 31, 64, 576, 1003};

}  // namespace

class TestOps : public QObject {
    Q_OBJECT

 private slots:
    void rms_norm_reference() {
        for (int n : kLengths) {
            const std::vector<float> x = normal(n, 3), w = normal(n, 1, 8);
            std::vector<float> y(size_t(n), 0.0f);
            rms_norm(x.data(), w.data(), n, 1e-5f, y.data());
            double squares = 0;
            for (float v : x)
                squares += double(v) * double(v);
            const double root = std::sqrt(squares / n + 1e-5);
            for (size_t i = 0; i < size_t(n); ++i)
                QVERIFY(std::fabs(double(y[i]) - double(x[i]) / root * double(w[i])) <=
                        4e-7 * std::fabs(double(x[i]) * double(w[i])) / root);
        }
    }

    void rope_reference() {
        for (int n : {2, 10, 16, 64, 128}) {
            std::vector<float> x = normal(n), c, s;
            const std::vector<float> before = x;
            for (int i = 0; i < n / 2; ++i) {
                c.push_back(std::cos(float(i)));
                s.push_back(std::sin(float(i)));
            }
            rope_halves(x.data(), c.data(), s.data(), n);
            for (size_t i = 0; i < size_t(n / 2); ++i) {
                const double a = double(before[i]), b = double(before[i + size_t(n / 2)]);
                QVERIFY(std::fabs(double(x[i]) - (a * double(c[i]) - b * double(s[i]))) < 1e-6);
                QVERIFY(std::fabs(double(x[i + size_t(n / 2)]) - (b * double(c[i]) + a * double(s[i]))) < 1e-6);
            }
        }
    }

    void silu_reference() {
        for (int n : kLengths) {
            std::vector<float> gate = normal(n, 20), up = normal(n, 1, 9), out(size_t(n), 0.0f);
            gate[0] = -200.0f;  // exp(200) must not turn the product into NaN
            silu_mul(gate.data(), up.data(), n, out.data());
            for (size_t i = 0; i < size_t(n); ++i) {
                const double g = double(gate[i]), expected = g / (1 + std::exp(-g)) * double(up[i]);
                QVERIFY(std::fabs(double(out[i]) - expected) <= 5e-7 * std::fabs(expected) + 1e-35);
            }
        }
    }

    void add_and_scale() {
        for (int n : kLengths) {
            const std::vector<float> x = normal(n);
            std::vector<float> y = normal(n, 1, 10);
            const std::vector<float> before = y;
            add(x.data(), n, y.data());
            for (size_t i = 0; i < size_t(n); ++i)
                QCOMPARE(y[i], before[i] + x[i]);
            scale(0.3f, n, y.data());
            for (size_t i = 0; i < size_t(n); ++i)
                QCOMPARE(y[i], (before[i] + x[i]) * 0.3f);
        }
    }

    // Every result within one unit in the last place of the true exponential.
    void exp_is_within_one_ulp() {
        std::vector<float> x;
        for (float v = -87.29f; v < 0; v += 2.1e-4f)
            x.push_back(v);
        x.push_back(0.0f);
        std::vector<float> e = x;
        float sum;
        QCOMPARE(exp_minus_max(e.data(), int(e.size()), &sum), 0.0f);
        double worst = 0, total = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double exact = std::exp(double(x[i]));
            const float rounded = float(exact);
            worst = std::max(worst, std::fabs(double(e[i]) - exact) / double(std::nextafter(rounded, 2.0f) - rounded));
            total += exact;
        }
        QVERIFY2(worst <= 1.0, qPrintable(QString("%1 ulp").arg(worst)));
        QVERIFY(std::fabs(double(sum) - total) < 1e-5 * total);
        QCOMPARE(e.back(), 1.0f);
    }

    void exp_of_far_values_is_zero() {
        std::vector<float> x = {0.0f, -87.5f, -1e30f, -INFINITY, 3.0f};
        float sum;
        QCOMPARE(exp_minus_max(x.data(), int(x.size()), &sum), 3.0f);
        QCOMPARE(x[1], 0.0f);
        QCOMPARE(x[2], 0.0f);
        QCOMPARE(x[3], 0.0f);
        QCOMPARE(x[4], 1.0f);
        QVERIFY(std::fabs(double(sum) - 1.0497870684) < 1e-6);
    }

    void log_sum_exp_reference() {
        for (int n : {1, 5, 100, 49152}) {
            const std::vector<float> x = normal(n, 5);
            QVERIFY(std::fabs(log_sum_exp(x.data(), n) - exact_log_sum_exp(x)) < 1e-7);
        }
    }

    void divergence_data() {
        QTest::addColumn<float>("difference");
        for (float d : {0.0f, 1e-6f, 1e-4f, 1e-2f, 0.2f, 1.0f, 10.0f})
            QTest::addRow("logits differ by %g", double(d)) << d;
    }

    void divergence() {
        QFETCH(float, difference);
        for (int n : {3, 100, 49155}) {
            const std::vector<float> a = normal(n, 4), noise = normal(n, difference, 11);
            std::vector<float> b = a;
            for (size_t i = 0; i < b.size(); ++i)
                b[i] += noise[i];
            const double kl = kl_divergence(a.data(), log_sum_exp(a.data(), n), b.data(), log_sum_exp(b.data(), n), n);
            const double expected = exact_divergence(a, b);
            // Close distributions: accurate relative to the divergence itself. Else to the rounding of the
            // probabilities.
            const double allowed = 1e-6 * expected + (difference <= 0.01f ? 1e-13 : 1e-7);
            QVERIFY2(std::fabs(kl - expected) <= allowed,
                     qPrintable(QString("%1 instead of %2").arg(kl, 0, 'g', 12).arg(expected, 0, 'g', 12)));
            QVERIFY(kl >= 0);
        }
    }

    void divergence_ignores_a_common_shift() {
        const int n = 1000;
        const std::vector<float> a = normal(n, 4);
        std::vector<float> b;
        for (float v : a)
            b.push_back(v + 4.0f);
        QVERIFY(kl_divergence(a.data(), log_sum_exp(a.data(), n), b.data(), log_sum_exp(b.data(), n), n) < 1e-12);
    }

    void nextAbove() {
        for (const int n : {0, 1, 7, 8, 9, 40, 129}) {
            std::vector<float> x(size_t(n), 1.0f);
            QCOMPARE(next_above(x.data(), 0, n, 1.0f), n);
            QCOMPARE(next_above(x.data(), 0, n, 0.5f), 0);
            for (int i = n - 1; i >= 0; i -= 5) {
                x[size_t(i)] = 2.0f;
                QCOMPARE(next_above(x.data(), 0, n, 1.0f), i);
                QCOMPARE(next_above(x.data(), i, n, 1.0f), i);
                if (i > 0) x[size_t(i) - 1] = NAN;
                QCOMPARE(next_above(x.data(), 0, n, 1.0f), i);
            }
            QCOMPARE(next_above(x.data(), 0, n, NAN), n);
        }
    }

    void first_maximum() {
        for (int n : kLengths) {
            std::vector<float> x(size_t(n), -1.0f);
            QCOMPARE(arg_max(x.data(), n), 0);
            for (int i = n - 1; i >= 0; i -= 3) {
                x[size_t(i)] = 2.0f;
                QCOMPARE(arg_max(x.data(), n), i);
            }
        }
    }

    // The butterflies of the published rotation, bit for bit.
    void hadamard_order() {
        for (int n : {1, 2, 4, 8, 16, 64, 128, 256}) {
            std::vector<float> x = normal(n), expected = x;
            for (int h = 1; h < n; h *= 2)
                for (int i = 0; i < n; ++i)
                    if ((i & h) == 0) {
                        const float a = expected[size_t(i)], b = expected[size_t(i + h)];
                        expected[size_t(i)] = a + b;
                        expected[size_t(i + h)] = a - b;
                    }
            for (float& v : expected)
                v *= 1.0f / std::sqrt(float(n));
            hadamard(x.data(), n);
            QCOMPARE(x, expected);
        }
    }

    void hadamard_is_its_own_inverse() {
        std::vector<float> x = normal(64);
        const std::vector<float> before = x;
        hadamard(x.data(), 64);
        QVERIFY(std::fabs(x[0] - before[0]) > 1e-3f);
        hadamard(x.data(), 64);
        for (size_t i = 0; i < 64; ++i)
            QVERIFY(std::fabs(x[i] - before[i]) < 1e-6f);
    }

    void the_machine_is_named() {
        QVERIFY(QByteArray(simd_name()).size() >= 4);
        QVERIFY(physical_cores() >= 1);
    }

    void nothing_pretends_to_run_on_a_gpu() {
        QVERIFY(cuda_built() || !cuda_available());
        QVERIFY(cuda_status().ends_with("."));
    }
};

QTEST_APPLESS_MAIN(TestOps)
#include "tst_ops.moc"
