// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_fixture.h"
#include "core/session/scheme_batches.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

std::vector<CacheSpec> specs_of(const std::vector<std::string>& texts) {
    std::vector<CacheSpec> out;
    for (const std::string& text : texts)
        out.push_back(parse_cache_spec(text).value());
    return out;
}

const std::vector<std::string> kSpecs{"quanto:4,group=16", "quanto:2,group=16", "hadamard:2",
                                      "kivi:2,group=16,residual=16", "fp16"};

}  // namespace

class TestSchemeBatches : public QObject {
    Q_OBJECT
 private slots:
    void equalsOneRunWhateverTheBatch() {
        const auto model = tiny_model();
        const RunModel together = carry_out(model, experiment({"fp16", kSpecs[0], kSpecs[1], kSpecs[3]}, 40));
        for (const int lanes : {2, 3, 8}) {
            const auto batches = evaluate_schemes(model, experiment({}, 40), specs_of(kSpecs), lanes);
            QVERIFY2(batches.ok(), batches ? "" : batches.error().message().c_str());
            QVERIFY(batches->complete);
            QCOMPARE(batches->n_scored, 40);
            QCOMPARE(batches->schemes.size(), kSpecs.size());
            size_t lane = 1;
            for (const size_t i : {0u, 1u, 3u}) {
                const SchemeFigures& f = batches->schemes[i];
                QVERIFY(f.measured());
                QCOMPARE(f.summary.kl_mean, together.summary(int(lane)).kl_mean);
                QCOMPARE(f.summary.dnll_mean, together.summary(int(lane)).dnll_mean);
                QVERIFY(f.summary.kl_mean > 0);
                const StepRecord& last = together.lane(int(lane)).back();
                QCOMPARE(f.bytes_per_token, double(last.bytes.total()) / last.n_cached);
                ++lane;
            }
            QCOMPARE(batches->schemes[4].summary.kl_mean, 0.0);
        }
    }
    void whatCannotRunSaysWhy() {
        const auto batches = evaluate_schemes(tiny_model(), experiment({}, 4), specs_of(kSpecs), 3);
        QVERIFY(!batches->schemes[2].measured());
        QVERIFY(!batches->schemes[2].why.empty());
        QCOMPARE(batches->schemes[2].bytes_per_token, 0.0);
    }
    void cancelledKeepsWhatThereIs() {
        int asked = 0;
        const auto batches =
            evaluate_schemes(tiny_model(), experiment({}, 40), specs_of(kSpecs), 2, {}, [&] { return ++asked > 60; });
        QVERIFY(batches.ok());
        QVERIFY(!batches->complete);
        QVERIFY(batches->schemes[0].summary.n_scored > 0 && batches->schemes[0].summary.n_scored < 40);
        QVERIFY(!batches->schemes[4].measured());
    }
    void progressGrowsOverAllBatches() {
        double last = 0;
        QVERIFY(evaluate_schemes(tiny_model(), experiment({}, 4), specs_of(kSpecs), 3, [&](double share, const char*) {
                    QVERIFY(share >= last - 1e-12 && share <= 1);
                    last = share;
                }).ok());
        QVERIFY(last > 0.99);
    }
    void aTextTooShortIsRefused() {
        Experiment e = experiment({}, 4);
        e.prompt = "the";
        QVERIFY(!evaluate_schemes(tiny_model(), e, specs_of({"fp16"})).ok());
    }
};

QTEST_APPLESS_MAIN(TestSchemeBatches)
#include "tst_scheme_batches.moc"
