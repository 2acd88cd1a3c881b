// SPDX-License-Identifier: GPL-3.0-or-later
// What plots draw beside the records: the noise floor and the predicted memory.
#include <QtTest>

#include "core/cache/cache_bytes.h"
#include "tst_plot_run.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

class TestPlotBackgrounds : public QObject {
    Q_OBJECT
 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }
    void noiseFloorIsABandAndGreysWhatLiesInIt();
    void curvesGoOnInGreyInsideTheBand_data();
    void curvesGoOnInGreyInsideTheBand();
    void withoutAFloorThereIsNoBand();
    void memoryIsPredictedBeforeAndDuringTheRun();
};

/// A run whose reference was drawn twice: lane 1 mostly below the floor, lane 2 far above.
static void feedWithFloor(HandFeed& feed, int n) {
    RunModel run = emptyRun(n);
    auto info = std::make_shared<RunInfo>(run.info());
    info->experiment.noise_floor = true;
    run.begin(info, kLayers, kHeads, kHeadDim);
    feed.begin(run);
    std::vector<StepRecord> records = handRecords(0, n);
    for (StepRecord& r : records)
        if (r.lane == 1) r.kl = 0.005f;
    feed.append(records);
    // it comes later than the records, and in parts
    std::vector<FloorRecord> floors;
    for (int step = 0; step < n; ++step) {
        floors.push_back({1, step, 0.01f * float(1 + step % 3), -0.02f});
        if (step % 20 == 19) feed.append(std::exchange(floors, {}));
    }
}

/// Such a run of n tokens on show.
struct FloorPlot {
    HandFeed feed;
    ViewState view;
    QWidget window;
    ErrorPerToken* plot = shown<ErrorPerToken>(feed, view, window);

    explicit FloorPlot(int n) { feedWithFloor(feed, n); }
};

/// Pixels of the plot's area that have the colour.
static int inked(Chart* chart, const QColor& colour) {
    const QImage image = chart->grab().toImage();
    const QRect area = chart->axisRect()->rect();
    int n = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
        for (int x = area.left(); x <= area.right(); ++x)
            n += image.pixelColor(x, y) == colour;
    return n;
}

void TestPlotBackgrounds::noiseFloorIsABandAndGreysWhatLiesInIt() {
    FloorPlot on_show(60);
    auto& [feed, view, window, plot] = on_show;
    auto* chart = plot->findChild<LinesChart*>();
    const FloorBand& floor = chart->floorBand();
    QVERIFY(!floor.empty());
    double sum = 0;
    for (int i = 50 - 31; i <= 50; ++i)
        sum += double(feed.run().floors()[size_t(i)].kl);
    QCOMPARE(floor.levelAt(kPromptTokens + 50), sum / 32);
    QVERIFY(chart->yAxis->range().lower < floor.levelAt(kPromptTokens));  // the band is in sight

    view.setCrosshairStep(50);
    const Readout readout = plot->findChild<ReadoutLine*>()->readout();
    QStringList grey, plain;
    QString legend;
    for (const ReadoutPart& part : readout) {
        if (part.has_look) (part.dim ? grey : plain) << part.look.letter;
        if (part.has_swatch) legend = part.text;
    }
    QCOMPARE(grey, QStringList{QStringLiteral("A")});
    QVERIFY(plain.contains(QStringLiteral("B")));
    QCOMPARE(legend, QStringLiteral("mean floor %1 (n 32)").arg(errorText(sum / 32)));

    const auto ink = [&](const QPoint& at) { return chart->grab().toImage().pixelColor(at); };
    QTest::qWait(50);
    const QPoint inside(int(chart->xAxis->coordToPixel(kPromptTokens + 30)), chart->axisRect()->rect().bottom() - 2);
    QVERIFY(ink(inside) != Theme::instance().colour(QStringLiteral("base")));

    const QVector<QStringList> rows = parseCsv(plot->csv());
    const qsizetype column = rows[0].indexOf(QStringLiteral("floor_kl"));
    QCOMPARE(rows[1 + 50][column].toFloat(), feed.run().floor_at(50)->kl);
    QCOMPARE(rows[1 + 60 + 50][column], QString());  // only the reference is drawn twice

    plot->choose(1);  // signed: the band lies on both sides of zero
    QVERIFY(chart->yAxis->range().lower <= -0.02);
    QCOMPARE(chart->floorBand().levelAt(kPromptTokens + 50), double(0.02f));
    plot->choose(3);
    QVERIFY(chart->floorBand().empty());
}

void TestPlotBackgrounds::curvesGoOnInGreyInsideTheBand_data() {
    QTest::addColumn<int>("theme");
    QTest::newRow("light") << int(Theme::Kind::light);
    QTest::newRow("dark") << int(Theme::Kind::dark);
}
void TestPlotBackgrounds::curvesGoOnInGreyInsideTheBand() {
    QFETCH(int, theme);
    Theme::instance().apply(*qApp, Theme::Kind(theme), 1);
    const auto guard = qScopeGuard([] { Theme::instance().apply(*qApp, Theme::Kind::light, 1); });
    FloorPlot on_show(60);
    auto& [feed, view, window, plot] = on_show;
    auto* chart = plot->findChild<LinesChart*>();
    view.setLaneShown(2, false);
    view.setLaneShown(3, false);
    QTest::qWait(50);
    // lane A lies flat in the band: its line has the colour of words that step back, and nothing has its own
    const QColor own = Theme::instance().lane(0, false).colour, grey = Theme::instance().colour(QStringLiteral("dim"));
    const int in_band = inked(chart, grey);
    QCOMPARE(inked(chart, own), 0);

    // above the band it has its own colour; half of it inside: both
    const auto again = [&](auto&& kl) {
        std::vector<StepRecord> records;
        for (StepRecord r : feed.run().lane(1)) {
            r.kl = kl(r.step);
            records.push_back(r);
        }
        const std::vector<StepRecord> reference = feed.run().lane(0);
        const std::vector<FloorRecord> floors = feed.run().floors();
        RunModel fresh;
        fresh.begin(feed.run().shared_info(), kLayers, kHeads, kHeadDim);
        feed.begin(fresh);
        feed.append(reference);
        feed.append(records);
        feed.append(floors);
        view.setLaneShown(3, false);
        view.setLaneShown(2, false);
        QTest::qWait(50);
    };
    again([](int) { return 0.5f; });
    QVERIFY(inked(chart, own) > 100);
    QVERIFY(inked(chart, grey) < in_band - 100);
    again([](int step) { return step < 30 ? 0.001f : 30.0f; });
    QVERIFY(inked(chart, own) > 20);
    QVERIFY(inked(chart, grey) > inked(chart, own) / 2);
}

void TestPlotBackgrounds::withoutAFloorThereIsNoBand() {
    FloorPlot on_show(20);
    auto& [feed, view, window, plot] = on_show;
    QVERIFY(!plot->findChild<LinesChart*>()->floorBand().empty());
    feed.begin(emptyRun(20));
    feed.append(handRecords(0, 20));
    QVERIFY(plot->findChild<LinesChart*>()->floorBand().empty());
    for (const ReadoutPart& part : plot->findChild<ReadoutLine*>()->readout())
        QVERIFY(!part.has_swatch && !(part.has_look && part.dim));
}

void TestPlotBackgrounds::memoryIsPredictedBeforeAndDuringTheRun() {
    HandFeed feed;
    ViewState view;
    QWidget window;
    auto* plot = shown<MemoryPlot>(feed, view, window);
    const auto expected = [](const char* spec, int n_cached) {
        const CacheShape shape{kLayers, kHeads, kHeadDim, 0};
        return double(cache_bytes(parse_cache_spec(spec).value(), shape, kPromptTokens, n_cached).total()) / 1048576.0;
    };
    auto* chart = plot->findChild<LinesChart*>();
    QVERIFY(chart->lines().isEmpty() && !chart->isVisible());
    feed.planned = planOf(emptyRun(200));
    feed.still_running = true;  // a run whose first record has not come yet: the plan is all there is
    emit feed.planChanged();
    feed.still_running = false;
    emit feed.planChanged();
    QVERIFY(chart->isVisible());
    QVERIFY(plot->isEmpty());  // nothing is measured
    QCOMPARE(chart->lines().size(), 4);
    QCOMPARE(chart->lines()[3].predicted->dataCount(), 200);
    QCOMPARE(chart->lines()[3].predicted->data()->at(77)->value, expected("hadamard:2", kPromptTokens + 77));
    QVERIFY(chart->xAxis->range() == QCPRange(kPromptTokens, kPromptTokens + 199));
    QVERIFY(chart->yAxis->range().upper > expected("fp16", kPromptTokens + 199));
    const QString text = plot->findChild<ReadoutLine*>()->accessibleName();
    QVERIFY2(text.contains(QStringLiteral("R ") + fixedText(expected("fp16", kPromptTokens + 199), 2)),
             qPrintable(text));

    feed.still_running = true;
    feed.begin(emptyRun(200));
    feed.append(handRecords(0, 5));
    QCOMPARE(chart->lines()[1].line->dataCount(), 5);
    QCOMPARE(chart->lines()[1].predicted->dataCount(), 200);
    QCOMPARE(chart->lines()[1].predicted->data()->at(0)->value, expected("quanto:4", kPromptTokens));
    QVERIFY(chart->lines()[1].predicted->pen().widthF() <= 1);
    QCOMPARE(chart->lines()[1].predicted->pen().style(), Qt::SolidLine);
    view.setLaneShown(1, false);
    QVERIFY(!chart->lines()[1].predicted->visible());
}

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotBackgrounds)
#include "tst_plot_backgrounds.moc"
