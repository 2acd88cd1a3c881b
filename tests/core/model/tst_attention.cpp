// SPDX-License-Identifier: GPL-3.0-or-later
// One layer's attention on a cache of its own: ranges of every length, against double precision, and the same bits for
// every way of sharing the work.
#include <QtTest>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "core/cache/kv_cache.h"
#include "core/model/attention.h"

using namespace kvasir;

namespace {

constexpr int kHeads = 6, kKvHeads = 2, kQueries = kHeads / kKvHeads, kDim = 64, kTokens = 6200;

struct Filled {
    std::unique_ptr<KvCache> cache;
    std::vector<float> q;
};

Filled filled(const char* spec) {
    Filled out;
    out.cache = KvCache::create(parse_cache_spec(spec).value(), {1, kKvHeads, kDim, kTokens, {}}).value();
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    const auto draw = [&](std::vector<float>& x, float size) {
        for (float& v : x)
            v = size * normal(random);
    };
    std::vector<float> k(kDim), v(kDim);
    out.cache->begin_prompt(kTokens);
    out.cache->extend(0, kTokens);
    for (int t = 0; t < kTokens; ++t)
        for (int h = 0; h < kKvHeads; ++h) {
            draw(k, 1), draw(v, 1);
            out.cache->put(0, h, t, k.data(), v.data());
        }
    for (const Side side : {Side::k, Side::v})
        if (!out.cache->finish_prompt(0, side)) qFatal("the cache refused its prompt");
    out.q.resize(size_t(kHeads) * kDim);
    draw(out.q, 0.2f);
    return out;
}

std::vector<float> attend(const Filled& f, int position, int n_threads, bool by_range) {
    kernels::ThreadPool pool(n_threads);
    Attention attention(kHeads, kKvHeads, kDim, n_threads);
    std::vector<TimeSplit> times(1);
    std::vector<float> out(f.q.size());
    attention.run(pool, 0, {{0, position, f.cache.get()}}, f.q.data(), f.q.size(), out.data(), out.size(), by_range,
                  times);
    return out;
}

/// softmax(q . K) V through read(), in double.
std::vector<double> expected(const Filled& f, int position) {
    const int n = position + 1;
    std::vector<float> k(size_t(n) * kDim), v(k.size());
    std::vector<double> out;
    for (int h = 0; h < kHeads; ++h) {
        f.cache->read_unrotated(0, h / kQueries, Side::k, 0, n, k.data());
        f.cache->read_unrotated(0, h / kQueries, Side::v, 0, n, v.data());
        std::vector<double> weight(size_t(n), 0.0), sum(kDim, 0.0);
        double total = 0;
        for (int t = 0; t < n; ++t) {
            double score = 0;
            for (int d = 0; d < kDim; ++d)
                score += double(f.q[size_t(h * kDim + d)]) * double(k[size_t(t * kDim + d)]);
            total += weight[size_t(t)] = std::exp(score);
        }
        for (int t = 0; t < n; ++t)
            for (int d = 0; d < kDim; ++d)
                sum[size_t(d)] += weight[size_t(t)] / total * double(v[size_t(t * kDim + d)]);
        out.insert(out.end(), sum.begin(), sum.end());
    }
    return out;
}

}  // namespace

class TestAttention : public QObject {
    Q_OBJECT

 private slots:
    void rangesOfEveryLength_data() {
        QTest::addColumn<QString>("spec");
        for (const char* spec : {"fp16", "quanto:4", "kivi:2", "hadamard:2"})
            QTest::newRow(spec) << spec;
    }
    void rangesOfEveryLength() {
        QFETCH(QString, spec);
        const Filled f = filled(qPrintable(spec));
        // The last tokens of each length of range, and the first of the next.
        for (const int position : {0, 255, 256, 2047, 2048, 6143, 6144, kTokens - 1}) {
            const std::vector<float> out = attend(f, position, 1, false);
            QCOMPARE(attend(f, position, 3, true), out);
            QCOMPARE(attend(f, position, 2, true), out);
            const std::vector<double> want = expected(f, position);
            double worst = 0;
            for (size_t i = 0; i < out.size(); ++i)
                worst = std::max(worst, std::fabs(double(out[i]) - want[i]));
            QVERIFY2(worst < 2e-3, qPrintable(QStringLiteral("position %1: off by %2").arg(position).arg(worst)));
        }
    }
};

QTEST_APPLESS_MAIN(TestAttention)
#include "tst_attention.moc"
