// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <random>

#include "core/cache/lloyd_max.h"
#include "core/cache/rotation.h"
#include "support/golden.h"

using namespace kvasir;

class RotationTest : public QObject {
    Q_OBJECT

    static SideSpec rotated(int block, bool signs = false, bool pairs = false) {
        SideSpec side;
        side.codec = SideSpec::Codec::fp32;
        side.rotation_block = block, side.signs = signs, side.pairs = pairs;
        return side;
    }
    static std::vector<float> numbers(int n) {
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        std::vector<float> x(static_cast<size_t>(n));
        for (float& v : x)
            v = normal(random);
        return x;
    }

 private slots:
    void inverse_undoes_and_lengths_stay_data() {
        QTest::addColumn<int>("dim");
        QTest::addColumn<int>("block");
        for (const auto& [dim, block] : {std::pair{64, -1},
                                         {128, -1},
                                         {64, 16},
                                         {96, 32},
                                         {80, -1},
                                         {96, -1},
                                         {112, -1},
                                         {192, -1},
                                         {80, 20},
                                         {36, -1},
                                         {12, -1},
                                         {256, -2},
                                         {64, 2}})
            QTest::addRow("%d in blocks of %d", dim, block) << dim << block;
    }
    void inverse_undoes_and_lengths_stay() {
        QFETCH(int, dim);
        QFETCH(int, block);
        for (const bool signs : {false, true})
            for (const bool pairs : {false, true}) {
                const Rotation rotation(rotated(block, signs, pairs), Side::k, dim);
                const std::vector<float> x = numbers(dim);
                std::vector<float> y = x;
                rotation.forward(y.data());
                QVERIFY(y != x);
                double before = 0, after = 0;
                for (size_t d = 0; d < x.size(); ++d)
                    before += double(x[d]) * x[d], after += double(y[d]) * y[d];
                QVERIFY(std::abs(after / before - 1) < 1e-5);
                rotation.inverse(y.data());
                for (size_t d = 0; d < x.size(); ++d)
                    QVERIFY(std::abs(y[d] - x[d]) < 1e-5f);
            }
    }
    /// One strong channel becomes many equal ones: every element of a Hadamard row has the same size.
    void a_spike_is_spread_evenly() {
        for (const int dim : {64, 80, 96, 112, 36}) {
            std::vector<float> x(size_t(dim), 0.0f);
            x[3] = 1;
            Rotation(rotated(SideSpec::kWholeHead), Side::k, dim).forward(x.data());
            for (const float v : x)
                QVERIFY(std::abs(std::abs(v) - 1 / std::sqrt(float(dim))) < 1e-6f);
        }
    }
    void the_published_paley_row() {
        // Order 12, row 1 of the published matrix.
        const int row[] = {-1, 1, -1, 1, -1, -1, -1, 1, 1, 1, -1, 1};
        for (size_t d = 0; d < 12; ++d) {
            std::vector<float> unit(12);
            unit[d] = std::sqrt(12.0f);
            Rotation(rotated(SideSpec::kWholeHead), Side::k, 12).forward(unit.data());
            QVERIFY(std::abs(unit[1] - float(row[d])) < 1e-5f);
        }
    }
    void orders_that_exist() {
        for (const int order : {1, 2, 4, 8, 12, 20, 24, 28, 36, 40, 44, 60, 80, 96, 112, 192, 256})
            QVERIFY2(has_hadamard(order), std::to_string(order).c_str());
        for (const int order : {0, 3, 6, 10, 42, 50, 66})
            QVERIFY2(!has_hadamard(order), std::to_string(order).c_str());
    }
    void blocks_of_llama_cpp() {
        const SideSpec llama = rotated(SideSpec::kLlamaBlocks);
        QCOMPARE(rotation_block(llama, Side::k, 64), 64);
        QCOMPARE(rotation_block(llama, Side::k, 128), 128);
        QCOMPARE(rotation_block(llama, Side::k, 192), 64);
        QCOMPARE(rotation_block(llama, Side::v, 128), 64);
        QCOMPARE(rotation_block(llama, Side::k, 80), 0);
        QCOMPARE(rotation_block(llama, Side::v, 96), 0);
    }
    void pairs_are_ggufs_order() {
        std::vector<float> x{0, 1, 2, 3, 10, 11, 12, 13};
        Rotation(rotated(SideSpec::kNoRotation, false, true), Side::k, 8).forward(x.data());
        QCOMPARE(x, (std::vector<float>{0, 10, 1, 11, 2, 12, 3, 13}));
    }
    /// The grid of the reference numbers at head size 64, and the published ones elsewhere.
    void lloyd_max_grids() {
        const auto info = test::golden_json("tensors/codecs.json");
        for (const int bits : {2, 3, 4}) {
            const auto& golden = info["tq_mse_" + std::to_string(bits)];
            const Codebook& book = lloyd_max(bits, 64);
            QCOMPARE(book.centroids, golden["centroids"].get<std::vector<float>>());
            QCOMPARE(book.thresholds, golden["thresholds"].get<std::vector<float>>());
        }
        const auto at = [](int bits, int dim, size_t i) {
            const auto& c = lloyd_max(bits, dim).centroids;
            return c[c.size() / 2 + i] * std::sqrt(double(dim));
        };
        QVERIFY(std::abs(at(1, 128, 0) - 0.79944) < 1e-5);
        QVERIFY(std::abs(at(2, 80, 1) - 1.50206) < 1e-5);
        QVERIFY(std::abs(at(3, 96, 3) - 2.12472) < 1e-5);
        QVERIFY(std::abs(at(4, 128, 7) - 2.68886) < 1e-5);
    }
};

QTEST_APPLESS_MAIN(RotationTest)
#include "tst_rotation.moc"
