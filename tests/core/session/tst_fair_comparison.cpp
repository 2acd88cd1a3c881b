// SPDX-License-Identifier: GPL-3.0-or-later
// Making a comparison equal: which residual is taken, in which words, and what is said where it cannot be.
#include <QtTest>

#include "core/session/fair_comparison.h"

using namespace kvasir;

class TestFairComparison : public QObject {
    Q_OBJECT

    static Experiment lanes(const std::vector<std::string>& specs) {
        Experiment e;
        for (const std::string& text : specs)
            e.lanes.push_back({parse_cache_spec(text).value(), true});
        return e;
    }
    static bool equal(const Experiment& e) { return equal_terms(compared_lanes(e)); }

 private slots:
    void exactLanesAndSidesHaveNoResidual() {
        QVERIFY(equal(lanes({"fp16", "quanto:4", "quanto:2"})));
        QVERIFY(!equal(lanes({"fp16", "quanto:4", "kivi:2"})));
        QVERIFY(equal(lanes({"fp16,v=hadamard:2", "kivi:2"})));
        QVERIFY(!equal(lanes({"fp16,v=hadamard:2", "quanto:4"})));
        Experiment off = lanes({"quanto:4", "kivi:2"});
        off.lanes[1].enabled = false;
        QVERIFY(equal(off));
    }
    void everythingThatDiffersIsNamed() {
        const auto terms = [](const std::vector<std::string>& specs) {
            return differing_terms(compared_lanes(lanes(specs)));
        };
        using enum Term;
        QCOMPARE(terms({"fp16", "quanto:4", "quanto:2"}), (std::vector<Term>{}));
        QCOMPARE(terms({"quanto:4", "kivi:2"}), (std::vector<Term>{residual}));
        QCOMPARE(terms({"quanto:4", "quanto:4,sink=4"}), (std::vector<Term>{sink}));
        QCOMPARE(terms({"kivi:2", "hadamard:2"}), (std::vector<Term>{rotation}));
        QCOMPARE(terms({"fp8", "k=fp8; v=fp8; flush=slide; residual=0"}), (std::vector<Term>{prompt}));
        QCOMPARE(terms({"quanto:4", "ggml:q4_0"}), (std::vector<Term>{residual, prompt, rotation}));
        const std::string kivi = "k=affine2:group=32:axis=channel; v=affine2:group=32; residual=32; flush=kivi";
        QCOMPARE(terms({kivi, kivi + "; score=after_flush"}), (std::vector<Term>{score_rule}));
        const auto keys = [&](const char* option) {
            return std::string("k=affine2:group=32:axis=channel:") + option +
                   "; v=affine2:group=32; residual=32; flush=kivi";
        };
        QCOMPARE(terms({kivi, keys("centre")}), (std::vector<Term>{centring}));
        QCOMPARE(terms({kivi, keys("rope=before")}), (std::vector<Term>{rope}));
        QCOMPARE(terms({"fp16,v=hadamard:2", "quanto:4,v=hadamard:2"}), (std::vector<Term>{}));
        for (const Term term : {residual, sink, prompt, score_rule, rotation, centring, rope})
            QVERIFY(*term_words(term));
    }
    void takesTheFirstLanesResidual() {
        const Experiment e = lanes({"fp16", "quanto:4", "quanto:2,group=32,residual=64", "kivi:2", "hadamard:2"});
        const Experiment made = made_equal(e).value();
        QVERIFY(equal(made));
        for (size_t i = 1; i < made.lanes.size(); ++i) {
            const CacheSpec& spec = made.lanes[i].spec;
            QCOMPARE(spec.residual_k, 128);
            QCOMPARE(spec.residual_v, 128);
            QVERIFY(parse_cache_spec(spec.text)->same_scheme(spec));
            QVERIFY(spec.k == e.lanes[i].spec.k && spec.v == e.lanes[i].spec.v);
        }
        QVERIFY(made.lanes[1].spec == e.lanes[1].spec);
        QCOMPARE(made.lanes[2].spec.text, std::string("quanto:2,group=32"));
        QCOMPARE(made.lanes[3].spec.text, std::string("kivi:2,residual=128"));
        // the preset's keys cannot be told another residual, the long form's can
        QVERIFY(made.lanes[4].spec.text.starts_with("k="));
        QCOMPARE(display_name(made.lanes[4].spec), std::string("Hadamard 2-bit, residual 128"));
    }
    void takesAnotherLanesWhereTheFirstIsImpossible() {
        // KIVI needs a multiple of its group of 32.
        const Experiment made = made_equal(lanes({"quanto:4,residual=100", "kivi:2"})).value();
        QCOMPARE(made.lanes[0].spec.text, std::string("quanto:4,residual=32"));
        QCOMPARE(made.lanes[1].spec.text, std::string("kivi:2"));
    }
    void sinksAreMadeEqualToo() {
        QVERIFY(!equal(lanes({"quanto:4,sink=4", "quanto:2"})));
        const Experiment made = made_equal(lanes({"quanto:4,sink=4", "quanto:2,residual=64"})).value();
        QVERIFY(equal(made));
        QCOMPARE(made.lanes[1].spec.text, std::string("quanto:2,sink=4"));
    }
    void whatWritesAtOnceHasNoResidual() {
        QVERIFY(!equal(lanes({"quanto:4", "ggml:q4_0"})));
        QCOMPARE(made_equal(lanes({"quanto:4", "ggml:q4_0"}))->lanes[0].spec.residual_k, 0);
        const auto made = made_equal(lanes({"kivi:2", "ggml:q4_0"}));  // KIVI's keys wait for whole blocks
        QVERIFY(!made);
        QVERIFY(made.error().message().find("as it is written") != std::string::npos);
        QVERIFY(equal(lanes({"fp8", "ggml:q4_0"})));
    }
    void saysWhyNothingFits() {
        const auto made = made_equal(lanes({"kivi:2,group=48,residual=48", "kivi:4,group=40,residual=40"}));
        QVERIFY(!made);
        const std::string says = made.error().message();
        QVERIFY2(
            says.find("KIVI int4") != std::string::npos && says.find("multiple of the group 40") != std::string::npos,
            says.c_str());
    }
    void keepsSidesThatAreExact() {
        const Experiment made = made_equal(lanes({"fp16,v=hadamard:2", "quanto:4"})).value();
        QVERIFY(equal(made));
        QVERIFY(made.lanes[0].spec.k.exact());
        QCOMPARE(made.lanes[1].spec.residual_v, 32);
    }
};

QTEST_APPLESS_MAIN(TestFairComparison)
#include "tst_fair_comparison.moc"
