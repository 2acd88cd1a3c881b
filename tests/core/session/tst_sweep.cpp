// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/session/sweep.h"

using namespace kvasir;

namespace {

std::vector<std::string> texts(const std::vector<SweepPoint>& points) {
    std::vector<std::string> out;
    for (const SweepPoint& p : points)
        out.push_back(p.refused.empty() ? p.text : "refused");
    return out;
}

}  // namespace

class TestSweep : public QObject {
    Q_OBJECT
 private slots:
    void shortFormsWhereTheyExist() {
        const auto points = sweep_points({{"fp16", "quanto:4"}, {"fp16", "quanto:4", "kivi:2"}, {32}, {}});
        QCOMPARE(texts(points),
                 (std::vector<std::string>{"fp16", "quanto:4,k=fp16,group=32", "kivi:2,k=fp16,group=32",
                                           "quanto:4,v=fp16,group=32", "quanto:4,group=32", points[5].text}));
        // Both sides bent and from different presets: only the long form says that.
        const CacheSpec& both = points[5].spec;
        QCOMPARE(both.k, parse_cache_spec("quanto:4,group=32")->k);
        QCOMPARE(both.v, parse_cache_spec("kivi:2,group=32")->v);
        for (const SweepPoint& p : points) {
            QCOMPARE(p.spec.text, p.text);
            QVERIFY(parse_cache_spec(p.text)->same_scheme(p.spec));
        }
    }
    void eachSideIsWhatItsPresetSays() {
        const SweepGrid grid{{"fp32", "quanto:2", "hqq:4", "kivi:4"}, {"hadamard:2", "kivi:2", "quanto:4"}, {}, {}};
        const auto points = sweep_points(grid);
        QCOMPARE(points.size(), size_t(12));
        size_t i = 0;
        for (const std::string& k : grid.k)
            for (const std::string& v : grid.v) {
                const SweepPoint& p = points[i++];
                QVERIFY2(p.refused.empty(), p.refused.c_str());
                const CacheSpec keys = parse_cache_spec(k).value(), values = parse_cache_spec(v).value();
                QVERIFY(p.spec.k == keys.k && p.spec.flush_k == keys.flush_k && p.spec.residual_k == keys.residual_k);
                QVERIFY(p.spec.v == values.v && p.spec.flush_v == values.flush_v &&
                        p.spec.residual_v == values.residual_v);
            }
    }
    void gridOfGroupsAndResiduals() {
        const auto points = sweep_points({{"quanto:4"}, {"quanto:4"}, {32, 64}, {16, 128}});
        QCOMPARE(texts(points),
                 (std::vector<std::string>{"quanto:4,group=32,residual=16", "quanto:4,group=32,residual=128",
                                           "quanto:4,group=64,residual=16", "quanto:4,group=64,residual=128"}));
        QCOMPARE(sweep_points({{"fp16"}, {"fp16"}, {32, 64}, {16, 128}}).size(), size_t(1));
    }
    void refusedOnesKeepTheirReason() {
        const auto points = sweep_points({{"kivi:2", "quanto:5"}, {"kivi:2", "hadamard:2"}, {64}, {32}});
        QCOMPARE(texts(points), (std::vector<std::string>(4, "refused")));
        QVERIFY(points[0].refused.find("multiple of the group") != std::string::npos);
        QVERIFY(points[1].refused.find("group") != std::string::npos);
        QVERIFY(points[2].refused.find("quanto:5") != std::string::npos);
        for (const SweepPoint& p : points)
            QVERIFY(!p.text.empty());
    }
};

QTEST_APPLESS_MAIN(TestSweep)
#include "tst_sweep.moc"
