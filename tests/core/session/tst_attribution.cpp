// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/session/attribution.h"

using namespace kvasir;

namespace {

std::vector<AttributionPair> pairs_of(const char* spec, int n_layers, std::vector<int> layers = {}) {
    return attribution_pairs(parse_cache_spec(spec).value(), n_layers, std::move(layers)).value();
}

}  // namespace

class TestAttribution : public QObject {
    Q_OBJECT
 private slots:
    void presets() {
        const auto pairs = pairs_of("quanto:4", 30);
        QCOMPARE(pairs.size(), size_t(60));
        QCOMPARE(pairs[10].layer, 5);
        QVERIFY(pairs[10].side == Side::k);
        QCOMPARE(pairs[10].only_this, std::string("fp16,layers_k=5:quanto:4"));
        QCOMPARE(pairs[10].all_but_this, std::string("quanto:4,layers_k=5:fp16"));
        QCOMPARE(pairs[11].only_this, std::string("fp16,layers_v=5:quanto:4"));
        QCOMPARE(pairs[11].all_but_this, std::string("quanto:4,layers_v=5:fp16"));
    }
    void optionsAreKept() {
        const auto pairs = pairs_of("quanto:4,residual=32", 30, {0, 5, 29});
        QCOMPARE(pairs.size(), size_t(6));
        QCOMPARE(pairs[0].only_this, std::string("quanto:4,residual=32,layers_k=1-29:fp16,layers_v=0-29:fp16"));
        QCOMPARE(pairs[3].only_this,
                 std::string("quanto:4,residual=32,layers_v=0-4:fp16+6-29:fp16,layers_k=0-29:fp16"));
        QCOMPARE(pairs[4].only_this, std::string("quanto:4,residual=32,layers_k=0-28:fp16,layers_v=0-29:fp16"));
        QCOMPARE(pairs[4].all_but_this, std::string("quanto:4,residual=32,layers_k=29:fp16"));
        QCOMPARE(pairs_of("quanto:4,residual=32", 1)[0].only_this, std::string("quanto:4,residual=32,layers_v=0:fp16"));
    }
    void exactSidesHaveNoRow() {
        const auto pairs = pairs_of("quanto:4,k=fp16", 2);
        QCOMPARE(pairs.size(), size_t(2));
        QVERIFY(pairs[0].side == Side::v);
        QCOMPARE(pairs[1].only_this, std::string("quanto:4,k=fp16,layers_v=0:fp16"));
    }
    void refusals() {
        const auto why = [](const std::string& spec, std::vector<int> layers = {}) {
            const auto pairs = attribution_pairs(parse_cache_spec(spec).value(), 4, std::move(layers));
            return pairs ? std::string() : pairs.error().message();
        };
        QVERIFY(why("fp16").find("quantizes nothing") != std::string::npos);
        QVERIFY(why("kivi:2,layers=0:fp16").find("per-layer overrides") != std::string::npos);
        const CacheSpec kivi = parse_cache_spec("kivi:2").value(),
                        long_form = parse_cache_spec(long_spec(kivi)).value();
        const auto short_pairs = attribution_pairs(kivi, 4, {2}), long_pairs = attribution_pairs(long_form, 4, {2});
        QVERIFY(short_pairs.ok() && long_pairs.ok());
        for (size_t i = 0; i < short_pairs->size(); ++i)
            for (int layer = 0; layer < 4; ++layer)
                QVERIFY(parse_cache_spec((*long_pairs)[i].only_this)->at_layer(layer).k ==
                        parse_cache_spec((*short_pairs)[i].only_this)->at_layer(layer).k);
        QVERIFY(why("quanto:4", {4}).find("no layer 4") != std::string::npos);
        QVERIFY(why("quanto:4", {3}).empty());
    }
};

QTEST_APPLESS_MAIN(TestAttribution)
#include "tst_attribution.moc"
