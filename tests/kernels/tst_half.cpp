// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <bit>
#include <cmath>
#include <vector>

#include "kernels/codec/half.h"
#include "kernels/cpu/ops.h"

using namespace kvasir::kernels;

namespace {

// Value of an fp16 from its definition; infinities and NaN excluded.
double definition(uint16_t h) {
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
}

bool is_nan(uint16_t h) {
    return (h & 0x7fff) > 0x7c00;
}

}  // namespace

class TestHalf : public QObject {
    Q_OBJECT

 private slots:
    void widening_is_exact() {
        for (uint32_t h = 0; h < 65536; ++h) {
            const float f = half_to_float(uint16_t(h));
            if (is_nan(uint16_t(h))) {
                QVERIFY(std::isnan(f));
            } else if ((h & 0x7fff) == 0x7c00) {
                QCOMPARE(std::isinf(f), true);
                QCOMPARE(std::signbit(f), h >= 0x8000);
            } else {
                QVERIFY(double(f) == definition(uint16_t(h)));
                QCOMPARE(std::signbit(f), h >= 0x8000);
            }
        }
    }

    void round_trip() {
        for (uint32_t h = 0; h < 65536; ++h) {
            const uint16_t back = float_to_half(half_to_float(uint16_t(h)));
            if (is_nan(uint16_t(h)))
                QVERIFY(is_nan(back));
            else
                QCOMPARE(back, uint16_t(h));
        }
    }

    // Between two neighbours: the nearer one, the even one in the middle. Both signs, subnormals included.
    void rounds_to_nearest_even() {
        for (uint32_t h = 0; h < 0x7bff; ++h) {
            const double low = definition(uint16_t(h)), high = definition(uint16_t(h + 1));
            const float middle = float((low + high) / 2);  // exact: one more mantissa bit
            const uint16_t even = uint16_t(h % 2 == 0 ? h : h + 1);
            QCOMPARE(float_to_half(middle), even);
            QCOMPARE(float_to_half(-middle), uint16_t(even | 0x8000));
            QCOMPARE(float_to_half(std::nextafterf(middle, 0.0f)), uint16_t(h));
            QCOMPARE(float_to_half(std::nextafterf(middle, INFINITY)), uint16_t(h + 1));
        }
    }

    void overflow() {
        QCOMPARE(float_to_half(65504.0f), uint16_t(0x7bff));
        QCOMPARE(float_to_half(std::nextafterf(65520.0f, 0.0f)), uint16_t(0x7bff));
        QCOMPARE(float_to_half(65520.0f), uint16_t(0x7c00));
        QCOMPARE(float_to_half(-1e30f), uint16_t(0xfc00));
        QCOMPARE(float_to_half(INFINITY), uint16_t(0x7c00));
        QVERIFY(is_nan(float_to_half(NAN)));
        QCOMPARE(float_to_half(1e-30f), uint16_t(0));
        QCOMPARE(float_to_half(-1e-30f), uint16_t(0x8000));
    }

    void bulk_conversions_agree() {
        const int n = 65536 + 5;  // and a tail shorter than a vector
        std::vector<uint16_t> halves, back(n);
        std::vector<float> floats(n);
        for (int i = 0; i < n; ++i)
            halves.push_back(uint16_t(i * 40503));
        half_to_float(halves.data(), n, floats.data());
        float_to_half(floats.data(), n, back.data());
        for (size_t i = 0; i < size_t(n); ++i) {
            if (is_nan(halves[i])) {
                QVERIFY(std::isnan(floats[i]) && is_nan(back[i]));
            } else {
                QCOMPARE(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(half_to_float(halves[i])));
                QCOMPARE(back[i], halves[i]);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestHalf)
#include "tst_half.moc"
