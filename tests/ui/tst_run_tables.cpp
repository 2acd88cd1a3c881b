// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a run say of every number what it is of: how many tokens, whose text, counted from where, made how.
#include <QtTest>
#include <cmath>

#include "core/session/lane_figures.h"
#include "tst_plot_run.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/run_csv.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

class TestRunTables : public QObject {
    Q_OBJECT

    /// Lane B leaves the reference's text after 5 of 20 tokens.
    static RunModel forked(const std::function<void(RunInfo&)>& change = {}) {
        RunModel run = emptyRun(20, Mode::free_running);
        auto info = std::make_shared<RunInfo>(run.info());
        info->n_threads = 3;
        info->simd = "AVX2";
        if (change) change(*info);
        run.begin(info, kLayers, kHeads, kHeadDim);
        std::vector<StepRecord> records = handRecords(0, 20);
        for (StepRecord& r : records)
            r.comparable = r.lane != 2 || r.step < 5;
        run.append(records);
        return run;
    }
    static QString cell(const QVector<QStringList>& rows, const char* column, int row) {
        const qsizetype at = rows[0].indexOf(QLatin1String(column));
        return at < 0 ? QStringLiteral("no column %1").arg(QLatin1String(column)) : rows[row].value(at);
    }

 private slots:
    void perplexitiesOfOtherTextsStandApart() {
        const RunModel run = forked();
        const QVector<QStringList> rows = parseCsv(lanesCsv(run));
        double all = 0, same = 0;
        for (const StepRecord& r : run.lane(2)) {
            all += double(r.nll) / 20;
            if (r.comparable) same += double(r.nll) / 5;
        }
        constexpr int kForked = 3;  // row of lane B
        QCOMPARE(cell(rows, "n_perplexity", kForked), QStringLiteral("5"));
        QCOMPARE(cell(rows, "nll", kForked).toDouble(), same);
        QCOMPARE(cell(rows, "perplexity", kForked).toDouble(), std::exp(same));
        QCOMPARE(cell(rows, "own_text_nll", kForked).toDouble(), all);
        QCOMPARE(cell(rows, "own_text_perplexity", kForked).toDouble(), std::exp(all));
        QCOMPARE(cell(rows, "n_scored", kForked), QStringLiteral("20"));
        QCOMPARE(cell(rows, "n_compared", kForked), QStringLiteral("5"));
        for (const int whole : {1, 2, 4}) {
            QCOMPARE(cell(rows, "n_perplexity", whole), QStringLiteral("20"));
            QCOMPARE(cell(rows, "own_text_perplexity", whole), QString());
            QCOMPARE(cell(rows, "perplexity", whole).toDouble(), lane_figures(run, whole - 1).ppl.value);
        }
        QCOMPARE(cell(rows, "n_timed", 1), QStringLiteral("19"));
    }

    void tokensThatReadNothingAreCounted() {
        RunModel run = emptyRun(20);
        std::vector<StepRecord> records = handRecords(0, 20);
        for (StepRecord& r : records)
            if (r.lane == 1 && r.step < 3) r.coverage = {0, 100, 0, 100}, r.kl = 0;
        run.append(records);
        for (const QByteArray& table : {lanesCsv(run), tokensCsv(run)}) {
            const QVector<QStringList> rows = parseCsv(table);
            for (int row = 1; row < rows.size(); ++row) {
                QCOMPARE(cell(rows, "n_compared", row), QStringLiteral("20"));
                QCOMPARE(cell(rows, "n_unread", row),
                         cell(rows, "lane", row) == QLatin1String("A") ? QStringLiteral("3") : QStringLiteral("0"));
            }
        }
        QVERIFY2(captionNotes(run).contains(QStringLiteral("A quanto:4 (n 20, 3 of them unread, ")),
                 qPrintable(captionNotes(run)));
    }

    void theWindowAndTheTableSayTheSamePerplexity() {
        HandFeed feed;
        ViewState view;
        feed.begin(forked());
        ErrorPerToken plot(feed, view, kHandTexts, nullptr);
        plot.show();
        plot.choose(3);
        const QString readout = plot.findChild<ReadoutLine*>()->accessibleName();
        const QVector<QStringList> rows = parseCsv(lanesCsv(feed.run()));
        for (int lane = 0; lane < 4; ++lane) {
            const QString words = QStringLiteral("%1 (n %2)")
                                      .arg(fixedText(cell(rows, "perplexity", lane + 1).toDouble(), 2),
                                           cell(rows, "n_perplexity", lane + 1));
            QVERIFY2(readout.contains(words), qPrintable(readout + QStringLiteral(" / ") + words));
        }
    }

    void ranksSayWhereTheyCountFrom() {
        HandFeed feed;
        ViewState view;
        feed.begin(forked());
        ErrorPerToken plot(feed, view, kHandTexts, nullptr);
        plot.show();
        for (const QByteArray& table : {plot.csv(), tokensCsv(feed.run())}) {
            const QVector<QStringList> rows = parseCsv(table);
            QVERIFY(!rows[0].contains(QStringLiteral("rank")));
            for (int step = 0; step < 20; ++step)
                QCOMPARE(cell(rows, "rank_from_1", 1 + step).toInt(), feed.run().lane(0)[size_t(step)].rank + 1);
        }
        // the plot draws none where the text is another one
        QCOMPARE(cell(parseCsv(plot.csv()), "rank_from_1", 1 + 2 * 20 + 12), QString());
    }

    void tablesSayHowTheRunWasMade() {
        const RunModel run = forked([](RunInfo& info) {
            info.experiment.sampling = {0.8f, 40, 0.95f, 77};
            info.experiment.kernels = KernelPath::reference;
        });
        HandFeed feed;
        ViewState view;
        feed.begin(run);
        TokensPerSecond speed(feed, view, kHandTexts, nullptr);
        for (const QByteArray& table : {lanesCsv(run), tokensCsv(run), speed.csv()}) {
            const QVector<QStringList> rows = parseCsv(table);
            for (int row = 1; row < rows.size(); ++row) {
                QCOMPARE(rows[row].size(), rows[0].size());
                QCOMPARE(cell(rows, "threads", row), QStringLiteral("3"));
                QCOMPARE(cell(rows, "simd", row), QStringLiteral("AVX2"));
                QCOMPARE(cell(rows, "kernels", row), QStringLiteral("reference"));
                QCOMPARE(cell(rows, "temperature", row), QStringLiteral("0.8"));
                QCOMPARE(cell(rows, "top_k", row), QStringLiteral("40"));
                QCOMPARE(cell(rows, "top_p", row), QStringLiteral("0.95"));
                QCOMPARE(cell(rows, "seed", row), QStringLiteral("77"));
                QVERIFY(cell(rows, "not_equal", row).contains(QStringLiteral("residual 128 · 128 · 32 tokens")));
            }
        }
        QVERIFY2(provenance(run).contains(QStringLiteral("temperature 0.8, top-k 40, top-p 0.95, seed 77")),
                 qPrintable(provenance(run)));
        QVERIFY(provenance(forked()).contains(QStringLiteral("greedy")));
    }

    void ofAGivenTextNothingWasDrawn() {
        const RunModel run = forked([](RunInfo& info) { info.experiment.score_text = true; });
        const QVector<QStringList> rows = parseCsv(lanesCsv(run));
        for (const char* column : {"temperature", "top_k", "top_p", "seed"})
            QCOMPARE(cell(rows, column, 1), QString());
        QVERIFY(!provenance(run).contains(QStringLiteral("greedy")));
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestRunTables)
#include "tst_run_tables.moc"
