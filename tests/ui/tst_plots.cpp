// SPDX-License-Identifier: GPL-3.0-or-later
// What plots hold is what was recorded; they follow or stay held; they draw only in sight.
#include <QFile>
#include <QSet>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QtTest>

#include "core/cache/cache_bytes.h"
#include "tst_plot_run.h"
#include "ui/plots/data_table.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_text.h"
#include "ui/plots/tokens_per_second.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

class TestPlots : public QObject {
    Q_OBJECT
 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }
    void graphsHoldRecords();
    void runningMeanIsMeanOfLast32();
    void onlyNewPointsAreAdded();
    void hiddenPlotsCatchUp();
    void newRunForgetsOld();
    void nothingIsDrawnAfterFork();
    void measuresSwitch();
    void axisKeepsRoomForPlannedTokens();
    void wheelHoldsAndFFollows();
    void crosshairIsShared();
    void arrowsMoveCrosshair();
    void labelsToggleLanesAndNeverOverlap();
    void heatMapHoldsErrors();
    void distributionsAskOnlyInSight();
    void distributionsIgnoreFramesOfEarlierChoices();
    void unrotatedSidesSaySo();
    void csvEqualsRun();
    void csvIsRfc4180();
    void dataTableShowsCsv();
    void figuresAreWrittenAsPeopleReadThem();
    void registryMakesEveryPlotFromController();
};

void TestPlots::graphsHoldRecords() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    QVERIFY(plot->isEmpty());
    feed.begin(emptyRun(20));
    feed.append(handRecords(0, 20));
    QVERIFY(!plot->isEmpty());
    auto* chart = plot->findChild<LinesChart*>();
    QCOMPARE(chart->lines().size(), 4);
    for (const LinesChart::Line& line : chart->lines()) {
        const auto& records = feed.run().lane(line.lane);
        QCOMPARE(line.line->dataCount(), int(records.size()));
        for (int i = 0; i < line.line->dataCount(); ++i) {
            QCOMPARE(line.line->data()->at(i)->key, double(records[size_t(i)].position));
            QCOMPARE(line.line->data()->at(i)->value, double(records[size_t(i)].bytes.total()) / 1048576.0);
        }
    }
}

void TestPlots::runningMeanIsMeanOfLast32() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(100));
    feed.append(handRecords(0, 100));
    const auto lines = plot->findChild<LinesChart*>()->lines();
    QCOMPARE(lines.size(), 3);  // the reference has no error against itself
    const LinesChart::Line& line = lines[1];
    const auto& records = feed.run().lane(line.lane);
    double sum = 0;
    for (size_t i = 60 - 31; i <= 60; ++i)
        sum += double(records[i].kl);
    QCOMPARE(line.raw->data()->at(60)->value, double(records[60].kl));
    QCOMPARE(line.line->data()->at(60)->value, sum / 32);
    QCOMPARE(line.line->data()->at(0)->value, double(records[0].kl));
}

void TestPlots::onlyNewPointsAreAdded() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(40));
    for (int step = 0; step < 40; ++step)
        feed.append(handRecords(step, step + 1));
    QCOMPARE(plot->findChild<LinesChart*>()->lines()[0].raw->dataCount(), 40);
    QCOMPARE(plot->findChild<LinesChart*>()->lines()[0].raw->data()->at(39)->value, double(feed.run().lane(1)[39].kl));
}

void TestPlots::hiddenPlotsCatchUp() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    feed.begin(emptyRun(40));
    feed.append(handRecords(0, 10));
    auto* chart = plot->findChild<LinesChart*>();
    QTest::qWait(50);  // what was queued in sight is drawn
    plot->hide();
    QSignalSpy replots(chart, &QCustomPlot::afterReplot);
    feed.append(handRecords(10, 40));
    QCoreApplication::processEvents();
    QCOMPARE(replots.count(), 0);
    QCOMPARE(chart->lines()[0].line->dataCount(), 10);
    plot->show();
    QTRY_VERIFY(replots.count() > 0);
    QCOMPARE(chart->lines()[0].line->dataCount(), 40);
}

void TestPlots::newRunForgetsOld() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(40));
    feed.append(handRecords(0, 40));
    feed.begin(emptyRun(40));
    QVERIFY(plot->isEmpty());
    feed.append(handRecords(0, 3));
    QCOMPARE(plot->findChild<LinesChart*>()->lines()[0].line->dataCount(), 3);
}

void TestPlots::nothingIsDrawnAfterFork() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(40, Mode::free_running));
    std::vector<StepRecord> records = handRecords(0, 40);
    for (StepRecord& r : records)
        r.comparable = r.lane != 2 || r.step < 10;
    feed.append(records);
    for (const LinesChart::Line& line : plot->findChild<LinesChart*>()->lines()) {
        const auto value = [&](int i) { return line.line->data()->at(i)->value; };
        QVERIFY(!std::isnan(value(9)));
        QCOMPARE(std::isnan(value(10)), line.lane == 2);
        QCOMPARE(std::isnan(line.raw->data()->at(39)->value), line.lane == 2);
    }
}

void TestPlots::measuresSwitch() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(40));
    feed.append(handRecords(0, 40));
    auto* chart = plot->findChild<LinesChart*>();
    plot->choose(1);
    QCOMPARE(chart->lines()[0].raw->data()->at(5)->value, double(feed.run().lane(1)[5].delta_logprob));
    plot->choose(2);
    QCOMPARE(chart->lines()[2].raw->data()->at(5)->value, feed.run().lane(2)[5].rank + 1.0);
    plot->choose(3);
    QCOMPARE(chart->lines().size(), 4);  // perplexity: the reference too
    double nll = 0;
    for (const StepRecord& r : feed.run().lane(0))
        nll += double(r.nll);
    QCOMPARE(chart->lines()[0].line->data()->at(39)->value, std::exp(nll / 40));
    feed.append(handRecords(40, 41));
    QCOMPARE(chart->lines()[0].line->dataCount(), 41);
}

void TestPlots::axisKeepsRoomForPlannedTokens() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    feed.still_running = true;
    feed.begin(emptyRun(512));
    feed.append(handRecords(0, 5));
    auto* chart = plot->findChild<LinesChart*>();
    QCOMPARE(chart->xAxis->range().upper, double(kPromptTokens + 511));
    feed.append(handRecords(5, 6));
    QCOMPARE(chart->xAxis->range().upper, double(kPromptTokens + 511));
    feed.still_running = false;  // ended early: the picture fits what there is
    emit feed.runningChanged();
    QCOMPARE(chart->xAxis->range().upper, double(kPromptTokens + 5));
}

void TestPlots::wheelHoldsAndFFollows() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    feed.begin(emptyRun(200));
    feed.append(handRecords(0, 100));
    auto* chart = plot->findChild<LinesChart*>();
    QSignalSpy follow(plot, &PlotView::followingChanged);
    const QPointF middle = chart->axisRect()->rect().center();
    QWheelEvent wheel(middle, chart->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(chart, &wheel);
    QVERIFY(!plot->following());
    QCOMPARE(follow.count(), 1);
    const QCPRange held = chart->xAxis->range();
    QVERIFY(held.size() < 99);
    feed.append(handRecords(100, 200));
    QVERIFY(chart->xAxis->range() == held);
    QTest::keyClick(chart, Qt::Key_F);
    QVERIFY(plot->following());
    QCOMPARE(follow.count(), 2);
    QCOMPARE(chart->xAxis->range().upper, double(kPromptTokens + 199));
    // a drag pans and holds as well, a double click follows
    QTest::mousePress(chart, Qt::LeftButton, {}, middle.toPoint());
    QMouseEvent move(QEvent::MouseMove, middle + QPointF(40, 0), chart->mapToGlobal(middle + QPointF(40, 0)),
                     Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(chart, &move);
    QTest::mouseRelease(chart, Qt::LeftButton, {}, middle.toPoint() + QPoint(40, 0));
    QVERIFY(!plot->following());
    QVERIFY(chart->xAxis->range().lower < kPromptTokens);
    QTest::mouseDClick(chart, Qt::LeftButton, {}, middle.toPoint());
    QVERIFY(plot->following());
}

void TestPlots::crosshairIsShared() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorPerToken>(feed, view, window);
    feed.begin(emptyRun(100));
    feed.append(handRecords(0, 100));
    QCoreApplication::processEvents();
    auto* chart = plot->findChild<LinesChart*>();
    const QPoint at(int(chart->xAxis->coordToPixel(kPromptTokens + 40)), chart->axisRect()->rect().center().y());
    QMouseEvent move(QEvent::MouseMove, at, chart->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(chart, &move);
    QVERIFY(std::abs(view.crosshairStep() - 40) <= 1);
    view.setCrosshairStep(51);
    const QString text = plot->findChild<ReadoutLine*>()->accessibleName();
    QVERIFY2(text.contains(QStringLiteral("token 179")), qPrintable(text));
    QVERIFY(text.contains(QStringLiteral("B ") + errorText(double(feed.run().lane(2)[51].kl))));
    QCOMPARE(chart->accessibleDescription(), text);
}

void TestPlots::arrowsMoveCrosshair() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    feed.begin(emptyRun(100));
    feed.append(handRecords(0, 100));
    auto* chart = plot->findChild<LinesChart*>();
    QTest::keyClick(chart, Qt::Key_Left);
    QCOMPARE(view.crosshairStep(), 99);
    QTest::keyClick(chart, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(view.crosshairStep(), 89);
    QTest::keyClick(chart, Qt::Key_Home);
    QCOMPARE(view.crosshairStep(), 0);
    QTest::keyClick(chart, Qt::Key_Left);
    QCOMPARE(view.crosshairStep(), 0);
    QTest::keyClick(chart, Qt::Key_End);
    QCOMPARE(view.crosshairStep(), 99);
}

void TestPlots::labelsToggleLanesAndNeverOverlap() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<TokensPerSecond>(feed, view, window);
    feed.begin(emptyRun(100));
    feed.append(handRecords(0, 100));
    auto* chart = plot->findChild<LinesChart*>();
    QTRY_COMPARE(chart->labelRects().size(), 4);
    QTest::qWait(50);  // the layout has settled
    const QVector<QRectF> rects = chart->labelRects();
    for (int i = 0; i + 1 < int(rects.size()); ++i)
        QVERIFY(rects[i].bottom() <= rects[i + 1].top() + 0.5);
    QVERIFY(view.laneShown(0) && view.laneShown(1) && view.laneShown(2) && view.laneShown(3));
    QTest::mouseClick(chart, Qt::LeftButton, {}, rects[0].center().toPoint());
    int n_hidden = 0, hidden = -1;
    for (int lane = 0; lane < 4; ++lane)
        if (!view.laneShown(lane)) ++n_hidden, hidden = lane;
    QCOMPARE(n_hidden, 1);
    for (const LinesChart::Line& line : chart->lines())
        QCOMPARE(line.line->visible(), line.lane != hidden);
    QCoreApplication::processEvents();
    QCOMPARE(chart->labelRects().size(), 4);  // greyed, in its place
    QTest::mouseClick(chart, Qt::LeftButton, {}, rects[0].center().toPoint());
    QVERIFY(view.laneShown(hidden));
}

void TestPlots::heatMapHoldsErrors() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<ErrorByLayer>(feed, view, window);
    feed.begin(emptyRun(10));
    feed.append(handRecords(0, 25));  // more than were planned
    auto* map = plot->findChild<HeatMapChart*>();
    const auto& records = feed.run().lane(3);
    for (const int step : {0, 9, 24})
        for (const int layer : {0, 17, kLayers - 1})
            QCOMPARE(map->cell(kPromptTokens + step, layer),
                     double(records[size_t(step)].attention_error[size_t(layer)]));
    QVERIFY(std::isnan(map->cell(kPromptTokens + 25, 0)));
    // a floor comes after its errors and greys what is not above it, in the lane shown
    FloorRecord floor{1, 9, 0, 0, std::vector<float>(kLayers, 0.0f)};
    floor.attention_error[17] = 1;
    feed.append(std::vector<FloorRecord>{floor});
    QVERIFY(map->isGrey(kPromptTokens + 9, 17));
    QVERIFY(!map->isGrey(kPromptTokens + 9, 16) && !map->isGrey(kPromptTokens + 8, 17));
    QVERIFY(plot->csv().contains(",9,137,1,17,0,1"));
    QVERIFY(plot->csv().contains(",9,137,1,16,0,0"));
    std::vector<StepRecord> bare = handRecords(0, 5);
    for (StepRecord& r : bare)
        r.attention_error.clear();
    feed.begin(emptyRun(10));
    feed.append(bare);
    QVERIFY(plot->isEmpty());
}

void TestPlots::distributionsAskOnlyInSight() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = new Distributions(feed, view, kHandTexts, &window);
    feed.begin(emptyRun(10));
    feed.append(handRecords(0, 5));
    QVERIFY(feed.requests.empty());
    window.show();
    QVERIFY(!feed.requests.empty());
    QCOMPARE(feed.requests.back().kv_head, -1);
    QCOMPARE(feed.requests.back().side, Side::v);
    plot->findChild<QSpinBox*>()->setValue(7);
    QCOMPARE(feed.requests.back().layer, 7);
    const int n_cancelled = feed.n_cancelled;
    window.hide();
    QCOMPARE(feed.n_cancelled, n_cancelled + 1);
}

void TestPlots::distributionsIgnoreFramesOfEarlierChoices() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<Distributions>(feed, view, window);
    feed.begin(emptyRun(10));
    feed.append(handRecords(0, 5));
    DistributionRequest other = feed.requests.back();
    other.layer = 3;
    emit feed.distributionReady(std::make_shared<DistributionFrame>(handFrame(other, true)));
    QVERIFY(plot->isEmpty());
    const DistributionFrame frame = handFrame(feed.requests.back(), true);
    emit feed.distributionReady(std::make_shared<DistributionFrame>(frame));
    QVERIFY(!plot->isEmpty());
    const QVector<QStringList> rows = parseCsv(plot->csv());
    QCOMPARE(rows.size(), 1 + qsizetype(frame.before.size()));
    for (size_t i = 0; i < frame.before.size(); ++i) {
        QCOMPARE(rows[qsizetype(i) + 1][10].toUInt(), frame.before[i]);
        QCOMPARE(rows[qsizetype(i) + 1][11].toUInt(), frame.after[i]);
        QCOMPARE(rows[qsizetype(i) + 1][12].toUInt(), frame.decoded[i]);
    }
}

void TestPlots::unrotatedSidesSaySo() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<Distributions>(feed, view, window);
    feed.begin(emptyRun(10));
    feed.append(handRecords(0, 5));
    QString error;
    QTemporaryDir folder;
    const auto svg = [&](bool rotated) {
        emit feed.distributionReady(std::make_shared<DistributionFrame>(handFrame(feed.requests.back(), rotated)));
        const QString path = folder.filePath(QStringLiteral("a.svg"));
        [&] { QVERIFY2(plot->saveSvg(path, &error), qPrintable(error)); }();
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    QVERIFY(svg(false).contains("not rotated"));
    QVERIFY(!svg(true).contains("not rotated"));
}

void TestPlots::csvEqualsRun() {
    HandFeed feed;
    ViewState view;
    feed.begin(emptyRun(30));
    feed.append(handRecords(0, 30));
    const ErrorPerToken errors(feed, view, kHandTexts, nullptr);
    const QVector<QStringList> rows = parseCsv(errors.csv());
    QCOMPARE(rows.size(), 1 + 4 * 30);
    const qsizetype kl = rows[0].indexOf(QStringLiteral("kl")), nll = rows[0].indexOf(QStringLiteral("nll")),
                    spec = rows[0].indexOf(QStringLiteral("spec"));
    for (int lane = 0; lane < 4; ++lane)
        for (int step = 0; step < 30; ++step) {
            const QStringList& row = rows[1 + lane * 30 + step];
            const StepRecord& r = feed.run().lane(lane)[size_t(step)];
            QCOMPARE(row[0], QString(QLatin1String("RABC")[lane]));
            QCOMPARE(row[spec].toStdString(), feed.run().info().lanes[size_t(lane)].active);
            QCOMPARE(row[kl].toFloat(), r.kl);
            QCOMPARE(row[nll].toFloat(), r.nll);
            QCOMPARE(row[3].toInt(), r.position);
        }
    const MemoryPlot memory(feed, view, kHandTexts, nullptr);
    const QVector<QStringList> bytes = parseCsv(memory.csv());
    const qsizetype total = bytes[0].indexOf(QStringLiteral("total_bytes")),
                    predicted = bytes[0].indexOf(QStringLiteral("predicted_bytes"));
    QCOMPARE(bytes[1 + 30 + 7][total].toULongLong(), feed.run().lane(1)[7].bytes.total());
    QCOMPARE(bytes[1 + 30 + 7][predicted].toDouble(),
             double(cache_bytes(parse_cache_spec("quanto:4").value(), {kLayers, kHeads, kHeadDim, 0}, kPromptTokens,
                                kPromptTokens + 7)
                        .total()));
    const TokensPerSecond speed(feed, view, kHandTexts, nullptr);
    const QVector<QStringList> speeds = parseCsv(speed.csv());
    QCOMPARE(speeds[1][5], QString());  // step 0 has no time of its own
    QCOMPARE(speeds[2][5].toDouble(), 1e9 / feed.run().lane(0)[1].time.total());
    const ErrorByLayer layers(feed, view, kHandTexts, nullptr);
    QCOMPARE(parseCsv(layers.csv()).size(), qsizetype(1 + 4 * 30 * kLayers));
}

void TestPlots::csvIsRfc4180() {
    CsvWriter csv({"plain", "with, comma", "with \"quote\""});
    csv.row({"1.5", "two\nlines", ""});
    QCOMPARE(csv.bytes(), QByteArray("plain,\"with, comma\",\"with \"\"quote\"\"\"\r\n1.5,\"two\nlines\",\r\n"));
    const QVector<QStringList> rows = parseCsv(csv.bytes());
    QCOMPARE(rows.size(), 2);
    QCOMPARE(rows[0][2], QStringLiteral("with \"quote\""));
    QCOMPARE(rows[1][1], QStringLiteral("two\nlines"));
}

void TestPlots::dataTableShowsCsv() {
    HandFeed feed;
    ViewState view;
    feed.begin(emptyRun(30));
    feed.append(handRecords(0, 30));
    const MemoryPlot memory(feed, view, kHandTexts, nullptr);
    CsvTableModel model;
    model.setCsv(memory.csv());
    QCOMPARE(model.rowCount(), 120);
    QCOMPARE(model.headerData(10, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("total_bytes"));
    QCOMPARE(model.data(model.index(0, 10), Qt::DisplayRole).toULongLong(),
             qulonglong(feed.run().lane(0)[0].bytes.total()));
}

void TestPlots::figuresAreWrittenAsPeopleReadThem() {
    QCOMPARE(errorText(1.984), QStringLiteral("1.98"));
    QCOMPARE(errorText(0.0171), QStringLiteral("0.017"));
    QCOMPARE(errorText(0.000443), QStringLiteral("4.4e-04"));
    QCOMPARE(errorText(-0.5), QString(QChar(0x2212)) + QStringLiteral("0.500"));
    QCOMPARE(countText(8192), QStringLiteral("8") + QChar(0x2009) + QStringLiteral("192"));
    QCOMPARE(exactText(0.1f), QByteArray("0.1"));
    QCOMPARE(laneShortName(parse_cache_spec("hadamard:2").value()), QStringLiteral("Had-2"));
    QCOMPARE(laneShortName(parse_cache_spec("quanto:4,residual=32").value()), QStringLiteral("int4"));
}

void TestPlots::registryMakesEveryPlotFromController() {
    RunController controller;
    ViewState view;
    QSet<QString> ids;
    std::vector<std::unique_ptr<PlotView>> plots;
    for (const PlotEntry& entry : plotRegistry()) {
        QVERIFY(!ids.contains(entry.id));
        ids << entry.id;
        QVERIFY(QFile::exists(QStringLiteral(":/icons/%1.svg").arg(entry.icon)));
        plots.emplace_back(entry.make(controller, view, nullptr));
        QCOMPARE(plots.back()->objectName(), entry.id);
        QVERIFY(plots.back()->isEmpty());
    }
    Session session;
    session.run = emptyRun(10);
    session.run.append(handRecords(0, 10));
    session.experiment = session.run.info().experiment;
    controller.adoptSession(session);
    for (const auto& plot : plots)  // pictures of values need an engine that ran
        QCOMPARE(plot->isEmpty(), plot->objectName() == QLatin1String("distributions"));
}

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlots)
#include "tst_plots.moc"
