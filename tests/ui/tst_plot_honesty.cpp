// SPDX-License-Identifier: GPL-3.0-or-later
// Plots draw what was measured and nothing else: no error where nothing was read, no other text, no value without a
// place on its axis; and they say what they leave out.
#include <QTemporaryDir>
#include <QtTest>
#include <limits>

#include "tst_plot_run.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/lines_chart.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_text.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

namespace {
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

QString readout(const QWidget& plot) {
    return plot.findChild<ReadoutLine*>()->accessibleName();
}

int drawn(const LinesChart& chart, int lane) {
    for (const LinesChart::Line& line : chart.lines())
        if (line.lane == lane) {
            const auto data = line.line->data();
            return int(std::count_if(data->constBegin(), data->constEnd(),
                                     [](const QCPGraphData& point) { return std::isfinite(point.value); }));
        }
    return -1;
}
}  // namespace

class TestPlotHonesty : public QObject {
    Q_OBJECT

    HandFeed feed_;
    ViewState view_;

    /// 20 tokens of four lanes, changed by `change` before they are shown.
    void run(const std::function<void(StepRecord&)>& change, Mode mode = Mode::teacher_forced) {
        view_.setCrosshairStep(-1);
        feed_.begin(emptyRun(20, mode));
        std::vector<StepRecord> records = handRecords(0, 20);
        for (StepRecord& r : records)
            change(r);
        feed_.append(records);
    }

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }

    void nothingReadIsNoError() {
        run([](StepRecord& r) {
            if (r.lane != 3) return;
            r.coverage = {0, 100, 0, 100};
            r.kl = r.delta_logprob = 0;
        });
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        QCOMPARE(drawn(*plot->findChild<LinesChart*>(), 3), 0);
        QCOMPARE(drawn(*plot->findChild<LinesChart*>(), 1), 20);
        QVERIFY2(readout(*plot).contains(QStringLiteral("C 0 % read")), qPrintable(readout(*plot)));
        QVERIFY2(readout(*plot).contains(QStringLiteral("C 20 at 0 % read")), qPrintable(readout(*plot)));
        const QVector<QStringList> rows = parseCsv(plot->csv());
        for (const QStringList& row : rows)
            if (row[0] == QLatin1String("C"))
                for (const char* column : {"kl", "delta_logprob", "top1_agrees"})
                    QCOMPARE(row[rows[0].indexOf(QLatin1String(column))], QString());
    }

    void otherTextsHaveNoPerplexityBesideTheReference() {
        run([](StepRecord& r) { r.comparable = r.lane != 2 || r.step < 5; }, Mode::free_running);
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        auto* chart = plot->findChild<LinesChart*>();
        for (const int measure : {0, 1, 2, 3}) {  // KL, delta, rank, perplexity
            plot->choose(measure);
            QCOMPARE(drawn(*chart, 2), 5);
            QCOMPARE(drawn(*chart, 1), 20);
        }
        QVERIFY2(readout(*plot).contains(QStringLiteral("(n 5) at 132")), qPrintable(readout(*plot)));
        QVERIFY2(readout(*plot).contains(QStringLiteral("(n 20)")), qPrintable(readout(*plot)));
        QVERIFY2(readout(*plot).contains(QStringLiteral("B 15 of another text")), qPrintable(readout(*plot)));
    }

    void afterARunTheNewestComparableTokenIsReadOut() {
        run([](StepRecord& r) { r.comparable = r.lane == 0 || r.step < 4 + r.lane; }, Mode::free_running);
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        const QString text = readout(*plot);
        for (int lane = 1; lane < 4; ++lane) {
            const StepRecord& last = feed_.run().lane(lane)[size_t(3 + lane)];
            const QString value = QString(QLatin1String("RABC")[lane]) + QLatin1Char(' ') + errorText(double(last.kl));
            QVERIFY2(text.contains(value), qPrintable(text));
        }
        QVERIFY2(text.contains(QStringLiteral("token 134")), qPrintable(text));  // of C, the newest that compares
        QVERIFY2(text.contains(QStringLiteral("at 132")), qPrintable(text));     // of A
    }

    void stoppedLanesLoseTheirFigures() {
        run([](StepRecord&) {});
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        QCOMPARE(plot->findChild<LinesChart*>()->lines().size(), 3);
        feed_.model.append(std::vector<LaneStop>{{1, 1, "it is full"}});
        emit feed_.recordsAppended();
        QCOMPARE(drawn(*plot->findChild<LinesChart*>(), 1), -1);
        QVERIFY2(readout(*plot).contains(QStringLiteral("A no figures")), qPrintable(readout(*plot)));
    }

    void oddValuesAreGaps_data() {
        QTest::addColumn<float>("value");
        QTest::newRow("NaN") << kNaN;
        QTest::newRow("inf") << kInfinity;
        QTest::newRow("-inf") << -kInfinity;
        QTest::newRow("zero") << 0.0f;
        QTest::newRow("negative") << -1.0f;
        QTest::newRow("1e30") << 1e30f;
    }
    void oddValuesAreGaps() {
        QFETCH(float, value);
        run([value](StepRecord& r) {
            if (r.lane != 1 || r.step < 10) return;
            r.kl = r.delta_logprob = r.nll = value;
            for (float& error : r.attention_error)
                error = value;
            r.time.matmul = double(value);
        });
        QTemporaryDir folder;
        QString error;
        ErrorPerToken errors(feed_, view_, kHandTexts, nullptr);
        ErrorByLayer layers(feed_, view_, kHandTexts, nullptr);
        MemoryPlot memory(feed_, view_, kHandTexts, nullptr);
        TokensPerSecond speed(feed_, view_, kHandTexts, nullptr);
        for (PlotView* plot : {static_cast<PlotView*>(&errors), static_cast<PlotView*>(&layers),
                               static_cast<PlotView*>(&memory), static_cast<PlotView*>(&speed)}) {
            plot->resize(500, 300);
            plot->show();
            for (int view = 0; view < plot->nViews(); ++view) {
                QVERIFY(plot->showView(view));
                QTest::qWait(10);
                QVERIFY2(plot->saveSvg(folder.filePath(QStringLiteral("a.svg")), &error), qPrintable(error));
                QFile svg(folder.filePath(QStringLiteral("a.svg")));
                QVERIFY(svg.open(QIODevice::ReadOnly));
                const QByteArray bytes = svg.readAll();
                for (const char* broken : {"=\"nan", "=\"inf", "=\"-inf", ",nan", ",inf", ",-inf"})
                    QVERIFY2(!bytes.contains(broken), broken);
                for (const Chart* chart : plot->findChildren<Chart*>())
                    for (const QCPAxis* axis : {chart->xAxis, chart->yAxis})
                        QVERIFY(std::isfinite(axis->range().lower) && std::isfinite(axis->range().upper) &&
                                axis->range().size() > 0);
            }
        }
        auto* chart = errors.findChild<LinesChart*>();
        errors.choose(0);
        for (const LinesChart::Line& line : chart->lines())
            for (const QCPGraphData& point : *line.raw->data())
                QVERIFY(!std::isinf(point.value) && !(point.value <= 0));
        const bool left_out = !(value > 0 && std::isfinite(value));
        QCOMPARE(readout(errors).contains(QStringLiteral("not drawn: A 10 not ")), left_out);
    }

    void emptySeriesSaySo() {
        feed_.begin(emptyRun(20));
        ErrorPerToken plot(feed_, view_, kHandTexts, nullptr);
        plot.show();
        QVERIFY(plot.isEmpty());
        QTemporaryDir folder;
        QString error;
        QVERIFY2(plot.savePng(folder.filePath(QStringLiteral("a.png")), 1, &error), qPrintable(error));
        QCOMPARE(parseCsv(plot.csv()).size(), 1);
    }

    void histogramsWithoutARangeSaySo() {
        run([](StepRecord&) {});
        Distributions plot(feed_, view_, kHandTexts, nullptr);
        plot.resize(400, 300);
        plot.show();
        for (const double high : {double(kNaN), double(kInfinity), -0.65}) {
            DistributionFrame frame = handFrame(feed_.requests.back(), true);
            frame.high = high;
            emit feed_.distributionReady(std::make_shared<const DistributionFrame>(frame));
            QVERIFY(plot.isEmpty());
            QVERIFY(std::isfinite(plot.findChild<HistogramChart*>()->xAxis->range().upper));
        }
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotHonesty)
#include "tst_plot_honesty.moc"
