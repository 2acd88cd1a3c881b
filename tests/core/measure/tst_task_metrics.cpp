// SPDX-License-Identifier: GPL-3.0-or-later
// LongBench's metrics. The expected figures are those of its metrics.py and of the Python package rouge 1.0.1.
#include <QtTest>
#include <cmath>

#include "core/measure/task_metrics.h"

using namespace kvasir;

namespace {

void compare(double got, double want) {
    QVERIFY2(std::abs(got - want) < 1e-12, qPrintable(QString("%1 instead of %2").arg(got, 0, 'g', 17).arg(want)));
}

}  // namespace

class TestTaskMetrics : public QObject {
    Q_OBJECT
 private slots:
    void tokenF1() {
        // {eiffel, tower, in, paris} against
        // {eiffel, tower}: precision 1/2, recall 1, F1 2/3.
        compare(token_f1("The Eiffel Tower, in Paris", "Eiffel tower"), 2.0 / 3);
        compare(token_f1("it is is is", "it is"), 2.0 / 3);  // a multiset: "is" counts once
        compare(token_f1("a an the", "the"), 0);             // nothing is left of either
        compare(token_f1("", "x"), 0);
        compare(token_f1("Theatre a-b", "theatre ab"), 1);    // an article is a whole word
        compare(token_f1("Ana’s house", "anas house"), 0.5);  // only ASCII punctuation is removed
        compare(token_f1("ÉCOLE normale", "école normale"), 1);
        compare(token_f1("the–end", "end"), 0);  // "the" is an article here, the dash stays
    }
    void rougeL() {
        compare(rouge_l("The cat sat on the mat.", "the cat lay on the mat."), 0.7272727223140496);
        compare(rouge_l("Ole forgot to switch the oven on. Mara will shape the loaves.",
                        "Ole forgot to switch the oven on. Mara will shape the loaves while it heats up."),
                0.8461538412721893);
        compare(rouge_l("to be or not to be", "to be is to do. or not."), 0.7999999952000001);
        compare(rouge_l("b a c a b", "a b c a. c b a"), 0.999999995);
        compare(rouge_l("a\u00a0b c", "a b\tc"), 0.999999995);
        compare(rouge_l("a b", " . a"), 0.4999999950000001);  // a blank sentence has one empty word
        compare(rouge_l(" . ", "a b"), 0);
        compare(rouge_l("", "a b"), 0);     // the package raises, LongBench counts 0
        compare(rouge_l("...", "a b"), 0);  // likewise
    }
    void classification() {
        const std::vector<std::string> two{"Food", "City"};
        compare(classification_score("Food", "Food", two), 1);
        compare(classification_score("City or Food", "Food", two), 0.5);
        compare(classification_score("City", "Food", two), 0);
        compare(classification_score("", "Food", two), 0);
        // Without the quirk all three parts would be removed and the score would be 1: the loop removes "Distance",
        // passes over "linear", removes "measure".
        const std::vector<std::string> parts{"Distance", "linear", "measure", "Distance, linear measure"};
        compare(classification_score("Distance, linear measure", "Distance, linear measure", parts), 0.5);
    }
    void retrieval() {
        compare(retrieval_score("Paragraph 12", "Paragraph 12"), 1);
        compare(retrieval_score("Paragraph 1 or 12", "Paragraph 12"), 0.5);
        compare(retrieval_score("12", "Paragraph 1"), 0);    // numbers are compared whole
        compare(retrieval_score("012", "Paragraph 12"), 0);  // and as text
        compare(retrieval_score("none", "Paragraph 12"), 0);
        QCOMPARE(paragraph_number("see Paragraph x, Paragraph 7"), std::string_view("7"));
        QVERIFY(paragraph_number("paragraph 7").empty());
    }
    void wordsAreThoseOfPython() {
        QCOMPARE(words_of(" a\u3000b\u2009c\x1f d\n"), (std::vector<std::string>{"a", "b", "c", "d"}));
        QVERIFY(words_of(" \t").empty());
    }
};

QTEST_APPLESS_MAIN(TestTaskMetrics)
#include "tst_task_metrics.moc"
