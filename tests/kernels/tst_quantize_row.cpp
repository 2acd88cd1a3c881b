// SPDX-License-Identifier: GPL-3.0-or-later
// Weight rows against the worked example of docs/spec/kv-cache-schemes.md, section 6.1.
#include <QtTest>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/codec/half.h"
#include "kernels/cpu/quantize_row.h"

using namespace kvasir::kernels;

class TestQuantizeRow : public QObject {
    Q_OBJECT

    /// S_i = sin(0.7 i) (1 + 0.1 i), i = 0..31, in fp32.
    static std::vector<float> example() {
        std::vector<float> x(32);
        for (int i = 0; i < 32; ++i)
            x[size_t(i)] = float(std::sin(0.7 * i) * (1 + 0.1 * i));
        return x;
    }
    static QByteArray written(WeightType type, const std::vector<float>& x) {
        QByteArray out(qsizetype(row_bytes(type, int(x.size()))), '\xee');
        if (!quantize_row(type, x.data(), int(x.size()), out.data())) qFatal("the row is refused");
        return out;
    }

 private slots:
    void q4_0Example() {
        QCOMPARE(written(WeightType::q4_0, example()).toHex(),
                 QByteArray("beb7d8b7864627396bbbeaf8c58434061a6d"));  // d = -.48388671875 = b7be, then 16 bytes
    }
    void q8_0Example() {
        const QByteArray got = written(WeightType::q8_0, example());
        const std::vector<int> codes{0,   23,  39, 37, 15, -17, -46, -55, -37, 1,    43,  68, 62, 24,  -29, -72,
                                     -84, -55, 3,  64, 97, 86,  32,  -41, -99, -112, -71, 6,  85, 127, 110, 39};
        QCOMPARE(got.first(2).toHex(), QByteArray("ce27"));
        for (int i = 0; i < 32; ++i)
            QCOMPARE(int(int8_t(got[2 + i])), codes[size_t(i)]);
    }
    void plainTypes() {
        const std::vector<float> x = example();
        const QByteArray f32 = written(WeightType::f32, x);
        QCOMPARE(f32, QByteArray(reinterpret_cast<const char*>(x.data()), 128));
        std::vector<float> back(32);
        dequantize_row(WeightType::f16, written(WeightType::f16, x).data(), 32, back.data());
        for (size_t i = 0; i < 32; ++i)
            QCOMPARE(back[i], round_to_half(x[i]));
    }
    void zerosAndConstants() {
        // All zero: scale 0, q4_0 codes 8, q8_0 codes 0. A constant is exact in q4_0 (code 0 of d = c / -8).
        QCOMPARE(written(WeightType::q4_0, std::vector<float>(32)).toHex(), QByteArray("0080") + QByteArray(32, '8'));
        QCOMPARE(written(WeightType::q8_0, std::vector<float>(32)).toHex(), QByteArray(68, '0'));
        std::vector<float> back(32);
        dequantize_row(WeightType::q4_0, written(WeightType::q4_0, std::vector<float>(32, 2.5f)).data(), 32,
                       back.data());
        QCOMPARE(back, std::vector<float>(32, 2.5f));
    }
    void whatDoesNotFitIsRefused() {
        std::vector<uint8_t> out(128);
        std::vector<float> x(32, 1.0f);
        x[3] = 1e6f;
        QVERIFY(!quantize_row(WeightType::f16, x.data(), 32, out.data()));
        QVERIFY(quantize_row(WeightType::q8_0, x.data(), 32, out.data()));
        x[3] = 1e8f;
        QVERIFY(!quantize_row(WeightType::q8_0, x.data(), 32, out.data()));
        QVERIFY(!quantize_row(WeightType::q4_0, x.data(), 32, out.data()));
        x[3] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!quantize_row(WeightType::f32, x.data(), 32, out.data()));
    }
};

QTEST_APPLESS_MAIN(TestQuantizeRow)
#include "tst_quantize_row.moc"
