// SPDX-License-Identifier: GPL-3.0-or-later
// The closed form against real caches, to the byte, and against the figures of docs/spec/kv-cache-schemes.md.
#include <cmath>
#include <cstdlib>
#include <random>

#include "core/cache/cache_bytes.h"
#include "core/cache/exact_store.h"
#include "core/cache/golden_files.h"
#include "core/cache/store.h"
#include "kernels/cpu/huge_arena.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

constexpr int kLayers = 2, kHeads = 3, kDim = 64;
const CacheShape kLlama2{32, 32, 128, 0};

/// Bytes of a real cache after every step from the prompt to n_tokens; empty when the scheme refuses the lengths.
std::vector<ByteLedger> ledgers_of(const std::string& spec, int n_prompt, int n_tokens) {
    const auto cache = make_cache(spec, {kLayers, kHeads, kDim, n_tokens});
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> k(kDim), v(kDim);
    const auto put = [&](int layer, int t) {
        for (int h = 0; h < kHeads; ++h) {
            for (size_t d = 0; d < kDim; ++d)
                k[d] = normal(random), v[d] = normal(random);
            cache->put(layer, h, t, k.data(), v.data());
        }
    };
    cache->begin_prompt(n_prompt);
    std::vector<ByteLedger> out;
    for (int layer = 0; layer < kLayers; ++layer) {
        cache->extend(layer, n_prompt);
        for (int t = 0; t < n_prompt; ++t)
            put(layer, t);
        for (const Side side : {Side::k, Side::v})
            if (!cache->commit(layer, side) || !cache->finish_prompt(layer, side)) return {};
    }
    out.push_back(cache->ledger());
    for (int t = n_prompt; t < n_tokens; ++t) {
        for (int layer = 0; layer < kLayers; ++layer) {
            cache->extend(layer, 1);
            put(layer, t);
            for (const Side side : {Side::k, Side::v})
                if (!cache->commit(layer, side) || !cache->flush(layer, side)) return {};
        }
        out.push_back(cache->ledger());
    }
    return out;
}

std::string text(const ByteLedger& b) {
    return std::to_string(b.codes) + " codes, " + std::to_string(b.scales) + " scales, " + std::to_string(b.zeros) +
           " zeros, " + std::to_string(b.residual) + " residual, " + std::to_string(b.padding) + " padding";
}

}  // namespace

class TestCacheBytes : public QObject {
    Q_OBJECT
 private slots:
    void ledgerIsTheFormula_data() {
        QTest::addColumn<QString>("spec");
        for (const Preset& preset : presets())
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        for (const char* spec : {"quanto:4,residual=0",
                                 "quanto:4,residual=2",
                                 "quanto:2,group=32,residual=9",
                                 "quanto:4,group=128",
                                 "quanto:4,axis_key=-1,axis_value=-1,residual=64",
                                 "hqq:4,axis_key=0,axis_value=0,residual=5",
                                 "kivi:4,group=64,residual=64",
                                 "kivi:2,group=16,residual=48",
                                 "hadamard:2,v_residual=0",
                                 "hadamard:2,v_residual=3",
                                 "quanto:4,k=kivi:2",
                                 "fp16,v=hadamard:2",
                                 "fp32,k=quanto:2",
                                 "k=affine4:group=32; v=fp16; residual=24; flush=block",
                                 "quanto:4,sink=3,residual=16",
                                 "kivi:2,sink=40",
                                 "quanto:4,layers=1:fp16",
                                 "fp32,layers_k=0:ggml:q5_0",
                                 "hadamard:2,layers_v=0-1:tq:3,sink=1",
                                 "k=affine3:group=32:centre; v=affine5:group=16; residual=8; flush=block",
                                 "k=affine6:axis=channel:group=32; v=fp32:rotate; residual=32; flush=kivi"})
            QTest::newRow(spec) << spec;
    }

    /// Every step of several runs: short and long prompts, one token, whole blocks, ragged ones, windows not yet full.
    void ledgerIsTheFormula() {
        QFETCH(QString, spec);
        const CacheSpec scheme = spec_of(spec.toStdString());
        int compared = 0;
        for (const auto& [n_prompt, n] : {std::pair{1, 70}, {5, 12}, {31, 34}, {64, 200}, {128, 300}, {257, 270}}) {
            const auto ledgers = ledgers_of(spec.toStdString(), n_prompt, n);
            for (size_t i = 0; i < ledgers.size(); ++i) {
                const ByteLedger want =
                    cache_bytes(scheme, {kLayers, kHeads, kDim, 0}, n_prompt, n_prompt + int64_t(i));
                if (!(ledgers[i] == want))
                    QFAIL(qPrintable(QStringLiteral("prompt %1, %2 tokens: ledger %3; formula %4")
                                         .arg(n_prompt)
                                         .arg(n_prompt + int(i))
                                         .arg(text(ledgers[i]).c_str(), text(want).c_str())));
                ++compared;
            }
        }
        QVERIFY2(compared > 200, qPrintable(QString::number(compared)));
    }

    /// The storage of n tokens, in whole blocks of 8, is as large as the formula says.
    void allocationIsTheFormula() {
        for (const Preset& preset : presets()) {
            const CacheSpec spec = spec_of(preset.name);
            for (const int n : {256, 512}) {
                const size_t before = kernels::cache_arena().bytes_in_use();
                int spare = 0;
                std::vector<std::unique_ptr<Store>> stores;
                std::vector<std::unique_ptr<ExactStore>> tails;
                for (const Side side : {Side::k, Side::v}) {
                    const SideSpec& s = spec.side(side);
                    const int q = int(quantized_tokens(side == Side::k ? spec.flush_k : spec.flush_v,
                                                       side == Side::k ? spec.residual_k : spec.residual_v, n, n));
                    if (!s.exact()) stores.push_back(make_store(s, {kHeads, kDim, q}));
                    // Groups that straddle tokens are kept with one byte and one group to spare, in three buffers; rows
                    // of bits with 8 bytes to spare.
                    if (!s.exact() && layout_of(s, kDim) == Layout::flat) spare += 3 * 64;
                    if (!s.exact() && layout_of(s, kDim) == Layout::rows) spare += 64;
                    tails.push_back(make_exact_store(s.codec, side, kHeads, kDim));
                    if (q < n) tails.back()->set_capacity(n - q);
                }
                const uint64_t formula = cache_bytes(spec, {1, kHeads, kDim, 0}, n, n).total();
                const size_t allocated = kernels::cache_arena().bytes_in_use() - before;
                QVERIFY2(allocated == formula + size_t(spare), qPrintable(QStringLiteral("%1: %2 allocated, formula %3")
                                                                              .arg(QString::fromStdString(preset.name))
                                                                              .arg(allocated)
                                                                              .arg(formula)));
            }
        }
    }

    /// The linear bound is one, and is reached up to the padding.
    void ratesBoundTheFormula() {
        for (const Preset& preset : presets()) {
            const CacheSpec spec = spec_of(preset.name);
            const CacheShape shape{kLayers, kHeads, kDim, 0};
            const ByteRates rates = byte_rates(spec, shape);
            double slack = 1e300;
            for (int64_t n = 300; n < 1000; ++n) {
                const ByteLedger b = cache_bytes(spec, shape, 256, n);
                const double left = rates.window + rates.per_token * double(n) - double(b.total() - b.padding);
                QVERIFY2(left > -1e-6, preset.name.c_str());
                slack = std::min(slack, left);
            }
            QVERIFY2(slack < 1e-6, preset.name.c_str());
        }
    }

    /// Section 1.5: Llama-2-7B per token, and 10,000 tokens of fp16.
    void figuresOfTransformers() {
        QCOMPARE(byte_rates(spec_of("fp16"), kLlama2).per_token, 524288.0);
        QCOMPARE(byte_rates(spec_of("quanto:4"), kLlama2).per_token, 147456.0);
        QCOMPARE(byte_rates(spec_of("quanto:2"), kLlama2).per_token, 81920.0);
        QCOMPARE(cache_bytes(spec_of("fp16"), kLlama2, 1, 10000).total(), uint64_t(5242880000));
    }

    /// Sections 4.6, 5.5 and 8: totals in MiB at 2048 to 16384 tokens, residuals included.
    void figuresOfKiviAndHadamard() {
        const std::pair<const char*, std::array<double, 4>> rows[] = {{"fp16", {1024, 2048, 4096, 8192}},
                                                                      {"kivi:4", {325.5, 645.5, 1285.5, 2565.5}},
                                                                      {"kivi:2,residual=128", {218, 410, 794, 1562}},
                                                                      {"hadamard:2", {262.5, 518.5, 1030.5, 2054.5}}};
        for (const auto& [spec, mib] : rows)
            for (size_t i = 0; i < 4; ++i)
                QCOMPARE(double(cache_bytes(spec_of(spec), kLlama2, 1, int64_t{2048} << i).total()) / 1048576.0,
                         mib[i]);
    }
};

QTEST_APPLESS_MAIN(TestCacheBytes)
#include "tst_cache_bytes.moc"
