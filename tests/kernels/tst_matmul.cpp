// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/codec/half.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/thread_pool.h"

using namespace kvasir::kernels;

namespace {

constexpr WeightType kTypes[] = {WeightType::f32,  WeightType::f16,  WeightType::bf16,
                                 WeightType::q8_0, WeightType::q4_0, WeightType::q4_1};
constexpr const char* kNames[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1"};

struct FileMatrix {
    WeightType type;
    int rows, cols;
    std::vector<uint8_t> bytes;

    const uint8_t* row(int r) const { return bytes.data() + size_t(r) * row_bytes(type, cols); }
    PackedMatrix pack() const {
        return PackedMatrix::pack(type, rows, cols, [this](int r) { return row(r); });
    }
};

void put_half(std::vector<uint8_t>& bytes, size_t at, float f) {
    const uint16_t h = float_to_half(f);
    std::memcpy(&bytes[at], &h, sizeof h);
}

FileMatrix random_matrix(WeightType type, int rows, int cols) {
    std::mt19937 engine(unsigned(rows * 1000 + cols));
    std::normal_distribution<float> normal;
    FileMatrix m{type, rows, cols, std::vector<uint8_t>(size_t(rows) * row_bytes(type, cols))};
    for (uint8_t& b : m.bytes)
        b = uint8_t(engine());
    const size_t block = row_bytes(type, 32);
    for (size_t at = 0; at < m.bytes.size(); at += block) {
        if (type == WeightType::f32 || type == WeightType::f16 || type == WeightType::bf16) {
            for (size_t i = 0; i < 32; ++i) {
                const float f = normal(engine);
                if (type == WeightType::f32) std::memcpy(&m.bytes[at + 4 * i], &f, 4);
                if (type == WeightType::f16) put_half(m.bytes, at + 2 * i, f);
                const uint16_t top = uint16_t(float_bits(f) >> 16);
                if (type == WeightType::bf16) std::memcpy(&m.bytes[at + 2 * i], &top, 2);
            }
        } else {
            put_half(m.bytes, at, 0.02f * normal(engine));
            if (type == WeightType::q4_1) put_half(m.bytes, at + 2, 0.1f * normal(engine));
        }
    }
    return m;
}

std::vector<float> random_vectors(int n, int cols) {
    std::mt19937 engine(99);
    std::normal_distribution<float> normal;
    std::vector<float> x(size_t(n) * size_t(cols));
    for (float& v : x)
        v = normal(engine);
    return x;
}

std::vector<float> prepare(const std::vector<float>& x, int n, int cols) {
    std::vector<float> prepared(activation_floats(n, cols));
    for (int i = 0; i < n; ++i)
        prepare_activation(&x[size_t(i) * size_t(cols)], i, cols, prepared.data());
    return prepared;
}

// (n, rows), by the given pieces of row blocks.
std::vector<float> product(const PackedMatrix& w, const std::vector<float>& x, int n, int piece, int sum_order = 0) {
    const std::vector<float> prepared = prepare(x, n, w.cols());
    std::vector<float> y(size_t(n) * size_t(w.rows()), NAN);
    const int blocks = (w.rows() + 7) / 8;
    for (int b = 0; b < blocks; b += piece)
        matmul(w, b, std::min(b + piece, blocks), prepared.data(), n, y.data(), size_t(w.rows()), sum_order);
    return y;
}

}  // namespace

class TestMatmul : public QObject {
    Q_OBJECT

 private slots:
    // Byte i of the block is (37 i + 11) mod 256, scale 0.5, minimum 0.25; published values, all exact.
    void known_blocks_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<QList<double>>("first");
        QTest::addColumn<double>("y16");
        QTest::addColumn<double>("y31");
        QTest::addColumn<double>("sum");
        QTest::newRow("q4_0") << 4 << QList<double>{-1.5, 1, 3.5, -2, 0.5, 3, -2.5, 0} << -1.5 << 0.0 << -10.5;
        QTest::newRow("q4_1") << 5 << QList<double>{7.75, 2.25, 4.75, 7.25, 1.75, 4.25, 6.75, 1.25} << 4.75 << 6.25
                              << 130.5;
        QTest::newRow("q8_0") << 3 << QList<double>{42.5, 61, -48.5, -30, -11.5, 7, 25.5, 44} << -45.5 << -24.0
                              << -88.0;
    }

    void known_blocks() {
        QFETCH(int, type);
        QFETCH(QList<double>, first);
        QFETCH(double, y16);
        QFETCH(double, y31);
        QFETCH(double, sum);
        const WeightType weight_type = kTypes[type];
        std::vector<uint8_t> block(row_bytes(weight_type, 32));
        for (size_t i = 0; i < block.size(); ++i)
            block[i] = uint8_t(37 * i + 11);
        put_half(block, 0, 0.5f);
        if (weight_type == WeightType::q4_1) put_half(block, 2, 0.25f);
        std::vector<float> y(32);
        dequantize_row(weight_type, block.data(), 32, y.data());
        double total = 0;
        for (float v : y)
            total += double(v);
        for (int i = 0; i < 8; ++i)
            QCOMPARE(double(y[size_t(i)]), first[i]);
        QCOMPARE(double(y[16]), y16);
        QCOMPARE(double(y[31]), y31);
        QCOMPARE(total, sum);
    }

    void block_sizes() {
        const size_t bytes[] = {128, 64, 64, 34, 18, 20};
        for (size_t t = 0; t < 6; ++t) {
            QCOMPARE(row_bytes(kTypes[t], 32), bytes[t]);
            QCOMPARE(row_bytes(kTypes[t], 576), 18 * bytes[t]);
        }
    }

    void exact_rows() {
        const uint16_t halves[] = {0x3c00, 0x0001, 0xfbff, 0x8000};
        float y[4];
        dequantize_row(WeightType::f16, halves, 4, y);
        QCOMPARE(y[0], 1.0f);
        QCOMPARE(y[1], 0x1p-24f);
        QCOMPARE(y[2], -65504.0f);
        QVERIFY(std::signbit(y[3]));
        const uint16_t tops[] = {0x3f80, 0x0001, 0xff7f, 0x4049};
        dequantize_row(WeightType::bf16, tops, 4, y);
        QCOMPARE(y[0], 1.0f);
        QCOMPARE(std::bit_cast<uint32_t>(y[1]), 0x00010000u);
        QCOMPARE(y[3], 3.140625f);
    }

    void types_data() {
        QTest::addColumn<int>("type");
        for (int t = 0; t < 6; ++t)
            QTest::newRow(kNames[t]) << t;
    }

    void types() {
        QFETCH(int, type);
        for (const auto& [rows, cols] : {std::pair{8, 32}, {1, 64}, {203, 576}, {96, 1536}}) {
            const FileMatrix file = random_matrix(kTypes[type], rows, cols);
            const std::vector<float> x = random_vectors(1, cols);
            const std::vector<float> y = product(file.pack(), x, 1, 1000);
            std::vector<float> row(size_t(cols), 0.0f);
            for (int r = 0; r < rows; ++r) {
                dequantize_row(file.type, file.row(r), cols, row.data());
                double sum = 0, magnitude = 0;
                for (size_t c = 0; c < size_t(cols); ++c) {
                    sum += double(row[c]) * double(x[c]);
                    magnitude += std::fabs(double(row[c]) * double(x[c]));
                }
                const double error = std::fabs(double(y[size_t(r)]) - sum);
                QVERIFY2(error <= 1e-6 * magnitude, qPrintable(QString("row %1 is off by %2").arg(r).arg(error)));
            }
        }
    }

    // An element has the same bits for any number of vectors and any cut into row blocks.
    void same_bits_data() { types_data(); }

    void same_bits() {
        QFETCH(int, type);
        const int rows = 203, cols = 288, most = 150;
        const FileMatrix file = random_matrix(kTypes[type], rows, cols);
        const PackedMatrix w = file.pack();
        const std::vector<float> x = random_vectors(most, cols);
        const std::vector<float> all = product(w, x, most, 1000), round = product(w, x, most, 6, 4);
        for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17, 133})  // from 12 on through unpacked codes
            for (int piece : {1, 3, 4, 1000}) {
                const std::vector<float> y = product(w, x, n, piece);
                QVERIFY(std::memcmp(y.data(), all.data(), y.size() * sizeof(float)) == 0);
            }
        const std::vector<float> begun_elsewhere = product(w, x, 3, 1000, 4);
        QVERIFY(std::memcmp(begun_elsewhere.data(), round.data(), begun_elsewhere.size() * sizeof(float)) == 0);
        // The last vector alone, and through a pool of threads.
        const std::vector<float> last(x.end() - cols, x.end());
        const std::vector<float> y = product(w, last, 1, 2);
        QVERIFY(std::memcmp(y.data(), &all[size_t(most - 1) * size_t(rows)], y.size() * sizeof(float)) == 0);
        ThreadPool pool(3);
        const std::vector<float> prepared = prepare(x, 8, cols);
        std::vector<float> threaded(8 * size_t(rows));
        pool.for_blocks((rows + 7) / 8, 4, [&](int begin, int end, int) {
            matmul(w, begin, end, prepared.data(), 8, threaded.data(), size_t(rows));
        });
        QVERIFY(std::memcmp(threaded.data(), all.data(), threaded.size() * sizeof(float)) == 0);
    }

    void sum_orders_agree_but_for_the_last_bits() {
        for (size_t t = 0; t < 6; ++t) {
            const FileMatrix file = random_matrix(kTypes[t], 24, 288);
            const PackedMatrix w = file.pack();
            const std::vector<float> x = random_vectors(3, 288);
            const std::vector<float> first = product(w, x, 3, 100);
            QVERIFY(product(w, x, 3, 100, 288 / 32) == first);  // once round
            const std::vector<float> other = product(w, x, 3, 100, 4);
            QVERIFY(other != first);
            QVERIFY(product(w, x, 3, 1, 4) == other);
            for (size_t i = 0; i < first.size(); ++i)
                QVERIFY(std::abs(other[i] - first[i]) <= 1e-5f * 288);
        }
    }

    void rows_may_be_permuted() {
        const FileMatrix file = random_matrix(WeightType::q4_1, 24, 64);
        const std::vector<float> x = random_vectors(1, 64);
        const auto reversed =
            PackedMatrix::pack(file.type, 24, 64, [&](int r) { return static_cast<const void*>(file.row(23 - r)); });
        const std::vector<float> y = product(file.pack(), x, 1, 100), z = product(reversed, x, 1, 100);
        for (size_t r = 0; r < 24; ++r)
            QCOMPARE(z[r], y[23 - r]);
    }

    void packed_size_is_the_files() {
        for (size_t t = 0; t < 6; ++t) {
            const FileMatrix file = random_matrix(kTypes[t], 64, 96), padded = random_matrix(kTypes[t], 40, 96);
            QCOMPARE(file.pack().bytes(), file.bytes.size());
            QCOMPARE(padded.pack().bytes(), file.bytes.size());  // whole quads of 32 rows
        }
    }
};

QTEST_APPLESS_MAIN(TestMatmul)
#include "tst_matmul.moc"
