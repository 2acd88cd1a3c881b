// SPDX-License-Identifier: GPL-3.0-or-later
// A value between two gaps is seen: no line reaches it, so it has the marker of its lane, on the screen and on paper.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <functional>

#include "tst_plot_run.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/lines_chart.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

class TestPlotLonePoints : public QObject {
    Q_OBJECT

    HandFeed feed_;
    ViewState view_;
    QTemporaryDir folder_;

    /// `n` tokens of four lanes, changed by `change` before they are shown.
    void run(int n, const std::function<void(StepRecord&)>& change, Mode mode = Mode::free_running) {
        feed_.begin(emptyRun(20, mode));
        std::vector<StepRecord> records = handRecords(0, n);
        for (StepRecord& r : records)
            change(r);
        feed_.append(records);
    }

    static QColor colourOf(int lane) {
        return lane == 0 ? Theme::instance().lane(0, true).colour : Theme::instance().lane(lane - 1, false).colour;
    }
    static int count(const QImage& picture, const QRect& area, const QColor& colour) {
        const QImage image = picture.convertToFormat(QImage::Format_RGB32);
        int n = 0;
        for (int y = area.top(); y <= area.bottom(); ++y) {
            const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
            n += int(std::count(line + area.left(), line + area.right() + 1, colour.rgb()));
        }
        return n;
    }
    /// Pixels of the lane's colour between the axes, where a marker may reach over.
    int onScreen(PlotView& plot, int lane) {
        QCoreApplication::processEvents();
        QTest::qWait(20);
        const auto charts = plot.findChildren<LinesChart*>();
        const QImage image = charts[0]->grab().toImage();
        return count(image, charts[0]->axisRect()->rect().adjusted(-4, -4, 4, 4), colourOf(lane));
    }
    int inPng(PlotView& plot, int lane) {
        QString error;
        const QString path = folder_.filePath(QStringLiteral("a.png"));
        if (!plot.savePng(path, 1, &error)) return -1;
        const QImage image(path);
        return count(image, image.rect(), colourOf(lane));
    }
    int inSvg(PlotView& plot, int lane) {
        QString error;
        const QString path = folder_.filePath(QStringLiteral("a.svg"));
        QFile file(path);
        if (!plot.saveSvg(path, &error) || !file.open(QIODevice::ReadOnly)) return -1;
        return int(file.readAll().count(colourOf(lane).name().toUtf8()));
    }

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }

    void aValueBetweenGapsIsSeen_data() {
        QTest::addColumn<int>("measure");
        QTest::addColumn<QList<int>>("steps");  // that have a value
        for (const int measure : {0, 1, 2, 3}) {
            QTest::addRow("measure %d, first", measure) << measure << QList<int>{0};
            QTest::addRow("measure %d, in the middle", measure) << measure << QList<int>{7};
            QTest::addRow("measure %d, last", measure) << measure << QList<int>{19};
            QTest::addRow("measure %d, two apart", measure) << measure << QList<int>{4, 12};
        }
    }
    void aValueBetweenGapsIsSeen() {
        QFETCH(int, measure);
        QFETCH(QList<int>, steps);
        constexpr int kLane = 2;
        const auto compares = [](const QList<int>& those) {
            return [those](StepRecord& r) { r.comparable = r.lane != kLane || those.contains(r.step); };
        };
        for (const int other : {0, 1, 3})  // they may lie above it
            view_.setLaneShown(other, false);
        const auto all_again = qScopeGuard([this] {
            for (const int other : {0, 1, 3})
                view_.setLaneShown(other, true);
        });
        QWidget window;
        run(20, compares(steps));
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        plot->choose(measure);
        QVERIFY(onScreen(*plot, kLane) >= 15 * steps.size());
        const int png = inPng(*plot, kLane), svg = inSvg(*plot, kLane);
        run(20, compares({}));
        QCOMPARE(onScreen(*plot, kLane), 0);
        QVERIFY(png > inPng(*plot, kLane) + 15 * steps.size());
        QVERIFY(svg >= inSvg(*plot, kLane) + steps.size());
    }

    void zeroOnALogarithmicAxisIsAGap() {
        run(20, [](StepRecord& r) {
            if (r.lane == 1) r.kl = r.step == 19 ? 0.2f : 0;
        });
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        QVERIFY(onScreen(*plot, 1) >= 15);
    }

    void theFirstTokenOfARunIsSeen() {
        run(1, [](StepRecord& r) { r.time.matmul = 7e6; });
        QWidget window;
        auto* memory = shown<MemoryPlot>(feed_, view_, window);
        for (int lane = 0; lane < 4; ++lane)
            QVERIFY2(onScreen(*memory, lane) >= 5, qPrintable(QString::number(lane)));
        QWidget other;
        auto* speed = shown<TokensPerSecond>(feed_, view_, other);
        QVERIFY(onScreen(*speed, 3) >= 15);  // the lanes are equally fast: the last one lies on top
    }

    void insideTheFloorItIsGrey() {
        run(20, [](StepRecord& r) {
            r.comparable = r.lane == 0 || r.step == 7;
            r.kl = r.lane == 2 ? 0.3f : 0.001f;
        });
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        QVERIFY(onScreen(*plot, 3) >= 15);
        std::vector<FloorRecord> floors;
        for (int step = 0; step < 20; ++step) {
            FloorRecord f;
            f.run = 1, f.step = step, f.kl = 0.01f;
            floors.push_back(f);
        }
        auto info = std::make_shared<RunInfo>(feed_.model.info());
        info->experiment.noise_floor = true;
        RunModel measured;
        measured.begin(info, kLayers, kHeads, kHeadDim);
        for (int lane = 0; lane < 4; ++lane)
            measured.append(feed_.model.lane(lane));
        measured.append(floors);
        feed_.begin(measured);
        QCOMPARE(onScreen(*plot, 3), 0);
        QVERIFY(onScreen(*plot, 2) >= 15);
    }

    void aHiddenLaneHasNone() {
        run(20, [](StepRecord& r) { r.comparable = r.lane != 2 || r.step == 7; });
        QWidget window;
        auto* plot = shown<ErrorPerToken>(feed_, view_, window);
        QVERIFY(onScreen(*plot, 2) >= 15);
        view_.setLaneShown(2, false);
        QCOMPARE(onScreen(*plot, 2), 0);
        view_.setLaneShown(2, true);
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotLonePoints)
#include "tst_plot_lone_points.moc"
