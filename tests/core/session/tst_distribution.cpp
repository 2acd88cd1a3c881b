// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <numeric>
#include <random>

#include "core/session/distribution.h"
#include "core/session/run_fixture.h"

using namespace kvasir;

namespace {

/// One layer, two heads of 64 channels, 80 tokens; the values have outliers in three channels.
std::unique_ptr<KvCache> filled(const char* spec) {
    auto cache = KvCache::create(parse_cache_spec(spec).value(), {1, 2, 64, 128}).value();
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> k(64), v(64);
    cache->begin_prompt(80);
    cache->extend(0, 80);
    for (int t = 0; t < 80; ++t)
        for (int h = 0; h < 2; ++h) {
            for (size_t d = 0; d < 64; ++d) {
                k[d] = normal(random);
                v[d] = normal(random) * (d % 21 == 5 ? 12.0f : 1.0f);
            }
            cache->put(0, h, t, k.data(), v.data());
        }
    for (const Side side : {Side::k, Side::v})
        if (!cache->finish_prompt(0, side)) qFatal("refused");
    return cache;
}

}  // namespace

class TestDistribution : public QObject {
    Q_OBJECT
 private slots:
    void rotationSpreadsOutliers() {
        const auto lane = filled("hadamard:2"), reference = filled("fp16");
        const DistributionFrame f = build_distribution({0, 0, -1, Side::v, 96}, *lane, *reference);
        QVERIFY(f.rotated);
        QCOMPARE(f.n_tokens, 80);
        QCOMPARE(f.n_quantized, 48);
        QVERIFY(f.after_stats.kurtosis < f.before_stats.kurtosis);
        QVERIFY(std::abs(f.before_stats.sigma - f.after_stats.sigma) < 0.02 * f.before_stats.sigma);  // orthonormal
        const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), 0u); };
        QCOMPARE(sum(f.before), 80u * 2 * 64);
        QCOMPARE(sum(f.after), 80u * 2 * 64);
        QCOMPARE(sum(f.decoded), 48u * 2 * 64);
        QCOMPARE(f.levels.size(), size_t(4));
        QVERIFY(std::is_sorted(f.levels.begin(), f.levels.end()));
        QVERIFY(f.mse > 0 && f.sqnr_db > 0);
        QVERIFY(f.channel_high[5] > 8);
    }
    void exactLanesHaveNoLevels() {
        const auto lane = filled("fp16"), reference = filled("fp16");
        const DistributionFrame f = build_distribution({0, 0, 1, Side::k, 32}, *lane, *reference);
        QVERIFY(!f.rotated);
        QVERIFY(f.levels.empty());
        QCOMPARE(f.before, f.after);
    }
    void errorIsTheCodecs() {
        const auto lane = filled("quanto:4"), reference = filled("fp16");
        const DistributionFrame f = build_distribution({0, 0, 0, Side::k, 32}, *lane, *reference);
        std::vector<float> exact(80 * 64), seen(80 * 64);
        reference->read(0, 0, Side::k, 0, 80, exact.data());
        lane->read(0, 0, Side::k, 0, 80, seen.data());
        double mse = 0;
        for (size_t i = 0; i < exact.size(); ++i)
            mse += std::pow(double(seen[i]) - exact[i], 2) / double(exact.size());
        QVERIFY(std::abs(f.mse - mse) < 1e-9);
        QCOMPARE(f.levels.size(), size_t(16));
    }
};

QTEST_APPLESS_MAIN(TestDistribution)
#include "tst_distribution.moc"
