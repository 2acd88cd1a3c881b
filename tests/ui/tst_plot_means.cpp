// SPDX-License-Identifier: GPL-3.0-or-later
// What a figure of a plot is of: one token, or a mean, and of how many. One slow token turns no order of lanes.
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>
#include <numeric>

#include "tst_plot_run.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_text.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

class TestPlotMeans : public QObject {
    Q_OBJECT

    static constexpr double kMs = 1e6;
    HandFeed feed_;
    ViewState view_;
    QTemporaryDir folder_;

    /// `n` tokens of four lanes; lane 0 takes 10 ms a token, lane 1 11 ms and so on, but the last token of lane 0 29
    /// ms.
    void runWithAHiccup(int n) {
        feed_.begin(emptyRun(n));
        std::vector<StepRecord> records = handRecords(0, n);
        for (StepRecord& r : records) {
            r.time = {};
            if (r.step == 0) continue;
            r.time.matmul = 7 * kMs;
            r.time.scores = (3 + r.lane) * kMs;
            if (r.lane == 0 && r.step == n - 1) r.time.scores += 19 * kMs;
        }
        feed_.append(records);
    }
    /// Lane 2 leaves the reference's text after 5 tokens.
    void runThatForks() {
        feed_.begin(emptyRun(20, Mode::free_running));
        std::vector<StepRecord> records = handRecords(0, 20);
        for (StepRecord& r : records)
            r.comparable = r.lane != 2 || r.step < 5;
        feed_.append(records);
    }
    static QString readout(const QWidget& plot) { return plot.findChild<ReadoutLine*>()->accessibleName(); }
    static double total(const BarRow& row) { return std::accumulate(row.parts.begin(), row.parts.end(), 0.0); }
    QString caption(PlotView& plot, int view) {
        QString error;
        const QString path = folder_.filePath(QStringLiteral("a.png"));
        if (!plot.showView(view) || !plot.savePng(path, 1, &error)) return error;
        return QImage(path).text(QStringLiteral("Description"));
    }
    static QString cell(const QVector<QStringList>& rows, const char* column, int row) {
        return rows[row].value(rows[0].indexOf(QLatin1String(column)));
    }

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }
    void init() { view_.setCrosshairStep(-1); }

    void oneSlowTokenTurnsNoOrder() {
        runWithAHiccup(57);
        QWidget window;
        auto* plot = shown<TokensPerSecond>(feed_, view_, window, {900, 320});
        const double slow = (31 * 10.0 + 29.0) / 32;
        QVERIFY2(
            readout(*plot).startsWith(
                QStringLiteral("mean of 32, R %1, A %2").arg(fixedText(1000 / slow, 1), fixedText(1000 / 11.0, 1))),
            qPrintable(readout(*plot)));
        QVERIFY2(readout(*plot).contains(QStringLiteral("up to token 184")), qPrintable(readout(*plot)));
        plot->showParts();
        auto* bars = plot->findChild<BarsChart*>();
        QCOMPARE(total(bars->rows()[0]), slow);
        QCOMPARE(total(bars->rows()[1]), 11.0);
        QVERIFY(total(bars->rows()[0]) < total(bars->rows()[1]));
        QVERIFY2(readout(*plot).contains(QStringLiteral("mean of the last 32")), qPrintable(readout(*plot)));
    }

    void fewerTokensAreSaid() {
        runWithAHiccup(5);  // 4 of them are timed
        QWidget window;
        auto* plot = shown<TokensPerSecond>(feed_, view_, window, {900, 320});
        QVERIFY2(readout(*plot).startsWith(QStringLiteral("mean of 4, ")), qPrintable(readout(*plot)));
        plot->showParts();
        QVERIFY2(readout(*plot).contains(QStringLiteral("mean of the last 4")), qPrintable(readout(*plot)));
        QCOMPARE(total(plot->findChild<BarsChart*>()->rows()[0]), (3 * 10 + 29) / 4.0);
    }

    void beforeTheFirstTimeThereIsNoBar() {
        runWithAHiccup(1);
        TokensPerSecond plot(feed_, view_, kHandTexts, nullptr);
        plot.show();
        plot.showParts();
        QVERIFY(plot.findChild<BarsChart*>()->rows().isEmpty());
    }

    void theCrosshairShowsItsToken() {
        runWithAHiccup(57);
        QWidget window;
        auto* plot = shown<TokensPerSecond>(feed_, view_, window, {900, 320});
        view_.setCrosshairStep(56);
        QVERIFY2(readout(*plot).startsWith(QStringLiteral("token 184, R %1, A").arg(fixedText(1000 / 29.0, 1))),
                 qPrintable(readout(*plot)));
        view_.setCrosshairStep(0);  // not timed, and no other text
        QVERIFY2(readout(*plot).startsWith(QStringLiteral("token 128, R –")), qPrintable(readout(*plot)));
        QVERIFY2(!readout(*plot).contains(QStringLiteral("texts differ")), qPrintable(readout(*plot)));
    }

    void captionsSayTheNumberOfTheFigure() {
        runWithAHiccup(57);
        TokensPerSecond speed(feed_, view_, kHandTexts, nullptr);
        QVERIFY2(caption(speed, 0).contains(QStringLiteral("R fp16 (n 56)")), qPrintable(caption(speed, 0)));
        const QString split = caption(speed, 1);
        QVERIFY2(split.contains(QStringLiteral("R fp16 (mean of the last 32)")), qPrintable(split));
        QVERIFY2(split.contains(QStringLiteral("A quanto:4 (mean of the last 32, read K 90 %")), qPrintable(split));
        QVERIFY2(!split.contains(QStringLiteral("(n ")), qPrintable(split));
        MemoryPlot memory(feed_, view_, kHandTexts, nullptr);
        QVERIFY2(caption(memory, 1).contains(QStringLiteral("A quanto:4 (read K 90 %")),
                 qPrintable(caption(memory, 1)));
        runThatForks();
        ErrorPerToken errors(feed_, view_, kHandTexts, nullptr);
        QVERIFY2(caption(errors, 0).contains(QStringLiteral("B quanto:2 (n 5, ")), qPrintable(caption(errors, 0)));
        QVERIFY2(caption(memory, 0).contains(QStringLiteral("B quanto:2 (n 20, ")), qPrintable(caption(memory, 0)));
    }

    void theTableHoldsTheMeansAndNoTimeThatWasNotTaken() {
        runWithAHiccup(57);
        TokensPerSecond plot(feed_, view_, kHandTexts, nullptr);
        plot.show();
        plot.showParts();
        const QVector<QStringList> rows = parseCsv(plot.csv());
        for (const QString& column : rows[0])
            if (column.endsWith(QLatin1String("_ns")) || column.contains(QLatin1String("tokens_per_second")))
                QCOMPARE(rows[1].value(rows[0].indexOf(column)), QString());  // step 0
        const BarRow bar = plot.findChild<BarsChart*>()->rows()[0];
        QCOMPARE(cell(rows, "mean_of", 57), QStringLiteral("32"));
        QCOMPARE(cell(rows, "mean_total_ns", 57).toDouble(), total(bar) * kMs);
        QCOMPARE(cell(rows, "mean_scores_ns", 57).toDouble(), bar.parts[2] * kMs);
        QCOMPARE(cell(rows, "mean_tokens_per_second", 57).toDouble(), 1000 / total(bar));
        QCOMPARE(cell(rows, "total_ns", 57).toDouble(), 29 * kMs);
        QCOMPARE(cell(rows, "mean_of", 2), QStringLiteral("1"));
    }

    void whereATextDiffersTheLastThatComparesIsReadOut() {
        runThatForks();
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window, {900, 320});
        view_.setCrosshairStep(12);
        const QString kl = errorText(double(feed_.run().lane(2)[4].kl));
        QVERIFY2(readout(*plot).startsWith(QStringLiteral("token 140, A ")), qPrintable(readout(*plot)));
        QVERIFY2(readout(*plot).contains(QStringLiteral("B %1 at 132").arg(kl)), qPrintable(readout(*plot)));
        ErrorByLayer layers(feed_, view_, kHandTexts, nullptr);
        layers.show();
        QVERIFY(layers.showView(1));
        view_.setCrosshairStep(-1);
        QVERIFY2(readout(layers).startsWith(QStringLiteral("token 132, B ")), qPrintable(readout(layers)));
    }

    void theNoiseFloorSaysThatItIsAMean() {
        for (const int n : {12, 60}) {
            RunModel run = emptyRun(n);
            auto info = std::make_shared<RunInfo>(run.info());
            info->experiment.noise_floor = true;
            run.begin(info, kLayers, kHeads, kHeadDim);
            run.append(handRecords(0, n));
            std::vector<FloorRecord> floors;
            for (int step = 0; step < n; ++step) {
                FloorRecord f;
                f.run = 1, f.step = step, f.kl = 1e-5f;
                floors.push_back(f);
            }
            run.append(floors);
            feed_.begin(run);
            QWidget window;
            auto* plot = shown<ErrorPerToken>(feed_, view_, window, {900, 320});
            const QString words = QStringLiteral("mean floor 1.0e-05 (n %1)");
            QVERIFY2(readout(*plot).contains(words.arg(std::min(n, 32))), qPrintable(readout(*plot)));
            view_.setCrosshairStep(6);
            QVERIFY2(readout(*plot).contains(words.arg(7)), qPrintable(readout(*plot)));
            view_.setCrosshairStep(-1);
        }
    }

    void whatLiesBelowTheAxisIsSaid() {
        feed_.begin(emptyRun(20));
        std::vector<StepRecord> records = handRecords(0, 20);
        for (StepRecord& r : records)
            if (r.lane == 3) r.kl = 1e-9f;
        feed_.append(records);
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window, {900, 320});
        QVERIFY2(readout(*plot).contains(QStringLiteral("C 20 below ")), qPrintable(readout(*plot)));
        QVERIFY2(!readout(*plot).contains(QStringLiteral("A 20 below ")), qPrintable(readout(*plot)));
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotMeans)
#include "tst_plot_means.moc"
