// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>

#include "core/measure/divergence.h"
#include "core/measure/figure.h"

using namespace kvasir;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text(double value, const FigureCondition& condition) {
    return figure_text(make_figure(value, condition), [](double v) { return std::to_string(int(1000 * v)); });
}

std::vector<float> logits_with(float odd, size_t at) {
    std::vector<float> logits{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    logits[at] = odd;
    return logits;
}

}  // namespace

class TestFigure : public QObject {
    Q_OBJECT
 private slots:
    void aFigureIsNeverShownWithoutItsCondition() {
        QCOMPARE(text(0.25, {.n = 5}), std::string("250"));
        QCOMPARE(text(0.25, {.n = 5, .floor = 0.5}), std::string("~250"));
        QCOMPARE(text(-0.25, {.n = 5, .floor = 0.5}), std::string("~-250"));
        QCOMPARE(text(0.25, {.n = 0}), std::string("–"));
        QCOMPARE(text(0, {.n = 5, .n_unread = 5}), std::string("0 % read"));
        QCOMPARE(text(kNan, {.n = 5}), std::string("not a number"));
        QCOMPARE(text(0, {.n = 5, .failure = "it stopped"}), std::string("failed"));
        // What weighs more is said first.
        QCOMPARE(text(kNan, {.n = 5, .n_unread = 5, .floor = 1}), std::string("not a number"));
        QCOMPARE(text(kNan, {.n = 5, .n_unread = 5, .failure = "it stopped"}), std::string("failed"));
    }
    void onlyNumbersAreRanked() {
        QVERIFY(make_figure(1, {.n = 1}).is_number() && !make_figure(1, {.n = 1}).grey());
        const Figure inside = make_figure(1, {.n = 1, .floor = 2});
        QVERIFY(inside.is_number() && inside.grey());
        for (const FigureCondition& condition :
             {FigureCondition{}, FigureCondition{.n = 1, .n_unread = 1}, FigureCondition{.n = 1, .failure = "x"}}) {
            const Figure f = make_figure(0, condition);
            QVERIFY(!f.is_number() && f.grey() && !f.reason.empty());
        }
    }
    void theWindowHasWordsOfItsOwn() {
        const Figure f = make_figure(0, {.n = 5, .n_unread = 5});
        QCOMPARE(figure_text(f, [](double) { return "x"; }, {.not_read = "nichts gelesen"}),
                 std::string("nichts gelesen"));
    }
    void whatIsNotANumberAgreesWithNothing() {
        const std::vector<float> good = logits_with(3, 2);
        const Prediction reference = predict(good);
        for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
            for (const size_t at : {size_t(0), size_t(4), size_t(9)}) {
                const std::vector<float> bad = logits_with(odd, at);
                const Prediction p = predict(bad);
                QVERIFY(!p.is_finite());
                QVERIFY(!agree(p, reference) && !agree(reference, p) && !agree(p, p));
                QVERIFY(std::isnan(kl_divergence(reference, p)) && std::isnan(kl_divergence(p, reference)));
                if (std::isnan(odd)) QCOMPARE(p.rank(int(at)), int(bad.size()));  // never the most likely
            }
        QVERIFY(agree(reference, reference));
        const std::vector<float> all(10, std::numeric_limits<float>::quiet_NaN());
        QVERIFY(!agree(predict(all), predict(all)));
    }
};

QTEST_APPLESS_MAIN(TestFigure)
#include "tst_figure.moc"
