// SPDX-License-Identifier: GPL-3.0-or-later
// Lanes in every room: three lines of text in each, or tabs; no figure cut; scrolling by token.
#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QScrollBar>
#include <QTabBar>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lane_tabs.h"
#include "ui/lanes/lanes_shape.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/chip.h"
#include "ui/shell/figure_words.h"
#include "ui/shell/format.h"
#include "ui/shell/run_controller.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestLanesShape : public QObject {
    Q_OBJECT

    /// `n` lanes of `steps` tokens of five letters. Lanes of a free-running one end at different places and flip at
    /// step 3. With `kl` 0 no lane differs from the reference anywhere.
    static Session session(int n, int steps, Mode mode = Mode::teacher_forced, float kl = 0.123f) {
        Session s;
        s.experiment = Experiment::first_start();
        s.experiment.mode = mode;
        const CacheSpec long_name =
            parse_cache_spec("k=affine3:group=16:axis=token; v=affine2:group=32:axis=token").value();
        s.experiment.lanes.resize(1);
        for (int i = 1; i < n; ++i)
            s.experiment.lanes.push_back({i == 3 ? long_name : parse_cache_spec("quanto:2").value(), true});
        auto info = std::make_shared<RunInfo>();
        info->experiment = s.experiment;
        info->prompt_ids = {1};
        info->n_planned = steps;
        info->lanes.resize(size_t(n));
        s.run.begin(info, 2, 1, 64);
        s.run.set_piece(1, "Start");
        for (int id = 2; id < 12; ++id)
            s.run.set_piece(id, std::string(" ") + std::string(5, char('a' + id)));
        std::vector<StepRecord> records;
        for (int lane = 0; lane < n; ++lane)
            for (int step = 0; step < (mode == Mode::free_running ? steps / (1 + lane) : steps); ++step) {
                StepRecord r;
                r.lane = lane;
                r.step = step;
                r.position = 1 + step;
                r.token_id = 2 + (step * 7 + step / 10) % 10;
                r.kl = lane == 0 ? 0 : kl;
                r.top1_agrees = lane == 0 || step != 3 || kl == 0;
                r.comparable = lane == 0 || mode == Mode::teacher_forced || step <= 3;
                r.bytes.codes = 93000000;
                r.n_cached = step + 1;
                records.push_back(r);
            }
        s.run.append(std::move(records));
        s.extra = nlohmann::json::object();
        return s;
    }

    static void checkLines(const LanesView& lanes) {
        QVERIFY(!lanes.panesInSight().empty());
        for (LanePane* pane : lanes.panesInSight()) {
            QVERIFY(pane->isVisible());
            QVERIFY2(pane->body()->visibleHeight() >= kLeastLines * pane->body()->lineHeight(),
                     qPrintable(QStringLiteral("%1 px for lines of %2, %3 lanes in %4 x %5")
                                    .arg(pane->body()->visibleHeight())
                                    .arg(pane->body()->lineHeight())
                                    .arg(lanes.panes().size())
                                    .arg(lanes.width())
                                    .arg(lanes.height())));
            QVERIFY(pane->body()->endScroll() == 0 || pane->body()->scrolled() <= pane->body()->endScroll());
        }
    }

 private slots:
    void init() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }

    void anyRoomGivesThreeLinesOrTabs() {
        LanesRoom room;
        for (const int line : {14, 20, 38})
            for (int n = 1; n <= 8; ++n)
                for (int w = 200; w <= 1800; w += 40)
                    for (int h = 60; h <= 1100; h += 20) {
                        room.size = {w, h};
                        room.n_lanes = n;
                        room.line = line;
                        const LanesShape shape = shapeOfLanes(room);
                        const int rows = (shape.n_panes + shape.columns - 1) / shape.columns;
                        const int header = shape.compact ? room.compact_header : room.full_header;
                        const int height = h - (shape.tabs ? room.tabs : 0) - (rows - 1) * room.gap;
                        const int lines = (height / rows - header - room.above_text) / line;
                        QVERIFY(shape.columns <= shape.n_panes && shape.n_panes <= n);
                        QCOMPARE(shape.tabs, shape.n_panes < n || (shape.tabs && n == 2));
                        if (h >= leastHeightOfLanes(room)) QVERIFY(lines >= kLeastLines);
                        const int width = (w - (shape.columns - 1) * room.gap) / shape.columns;
                        if (shape.columns > 1) QVERIFY(width >= room.narrow || !shape.tabs);
                    }
    }

    void roomIsNotWasted() {
        LanesRoom room;
        room.size = {1400, 900};
        room.n_lanes = 4;
        QCOMPARE(shapeOfLanes(room), (LanesShape{4, false, false, 4}));
        room.size = {1000, 700};
        QCOMPARE(shapeOfLanes(room), (LanesShape{2, false, false, 4}));
        room.n_lanes = 8;
        QCOMPARE(shapeOfLanes(room), (LanesShape{3, false, false, 8}));
        room.size = {650, 640};
        QVERIFY(shapeOfLanes(room).compact);
        room.size = {650, 300};
        QVERIFY(shapeOfLanes(room).tabs);
        QCOMPARE(shapeOfLanes(room).n_panes, 2);
    }

    void allLanesMayBeHidden() {
        LanesRoom room;
        room.n_lanes = 0;
        room.size = {1000, 700};
        QCOMPARE(shapeOfLanes(room), (LanesShape{1, false, false, 1}));
    }

    void everySizeShowsText() {
        for (const double scale : {0.85, 1.0, 1.1, 1.5})
            for (const int n : {1, 2, 4, 5, 8}) {
                Theme::instance().apply(*qApp, Theme::Kind::light, scale);
                RunController controller;
                ViewState view;
                LanesView lanes(controller, view);
                lanes.setTextPoints(11, 1, 4);
                lanes.show();
                controller.adoptSession(session(n, 150));
                for (const QSize size : {QSize(640, 590), QSize(400, 430), QSize(900, 900), QSize(300, 700)}) {
                    lanes.resize(size.expandedTo(lanes.minimumSizeHint()));
                    QCoreApplication::processEvents();
                    checkLines(lanes);
                    if (QTest::currentTestFailed()) return;
                    for (LanePane* pane : lanes.panesInSight()) {  // and the text is there, at its end
                        QCOMPARE(pane->body()->scrolled(), pane->body()->endScroll());
                        QVERIFY(!pane->body()->stepRect(149).isNull());
                    }
                }
            }
    }

    void noFigureIsCut() {
        for (const double scale : {0.85, 1.0, 1.5})
            for (const bool compact : {false, true})
                for (int width = 190; width < 700; width += 30) {
                    Theme::instance().apply(*qApp, Theme::Kind::light, scale);
                    RunController controller;
                    controller.adoptSession(session(4, 60));
                    ViewState view;
                    LanePane pane(controller, view, nullptr);
                    pane.resize(int(width * scale), 300);
                    pane.setLane(3);
                    pane.header()->setCompact(compact);
                    pane.show();
                    const LaneHeader* header = pane.header();
                    const QVector<LaneMetric> shown = header->shownMetrics(), all = laneMetrics(header->content());
                    QVERIFY(!shown.isEmpty());
                    const bool kl = std::any_of(shown.begin(), shown.end(), [](const LaneMetric& m) {
                        return m.value == errorText(double(0.123f));
                    });
                    QVERIFY(kl);  // it stays to the last
                    int needed = 0;
                    const QFontMetrics value(Theme::instance().font(9, true));
                    for (const LaneMetric& m : shown)
                        needed += value.horizontalAdvance(m.text());
                    QVERIFY2(needed <= header->width(), qPrintable(QString::number(width)));
                    QCOMPARE(pane.header()->chevron()->isVisible(), compact || shown.size() < all.size());
                    // what is not printed is behind the chevron and in the tooltip
                    for (const LaneMetric& m : all)
                        QVERIFY(header->toolTip().contains(m.key + QStringLiteral(": ") + m.text()));
                }
    }

    void theReferenceKeepsItsNToo() {
        for (const double scale : {0.85, 1.0, 1.5})
            for (int width = 190; width < 700; width += 10) {
                Theme::instance().apply(*qApp, Theme::Kind::light, scale);
                RunController controller;
                controller.adoptSession(session(4, 60));
                ViewState view;
                LanePane pane(controller, view, nullptr);
                pane.resize(int(width * scale), 300);
                pane.setLane(0);
                pane.show();
                QStringList keys;
                for (const LaneMetric& m : pane.header()->shownMetrics())
                    keys << m.key;
                QVERIFY2(keys.contains(QStringLiteral("perplexity")), qPrintable(keys.join(QLatin1Char(','))));
                if (keys.size() > 1)
                    QVERIFY2(keys.contains(QStringLiteral("n")), qPrintable(keys.join(QLatin1Char(','))));
            }
    }
    void theMenuOfFiguresIsReadAndCopied() {
        RunController controller;
        controller.adoptSession(session(4, 60));
        ViewState view;
        LanePane pane(controller, view, nullptr);
        pane.setLane(0);
        QMenu* menu = pane.header()->chevron()->menu();
        emit menu->aboutToShow();
        QStringList lines;
        for (QAction* action : menu->actions()) {
            QVERIFY2(action->isEnabled(), qPrintable(action->text()));
            if (!action->isSeparator()) lines << action->text();
        }
        QVERIFY(lines.size() > 4);
        QCOMPARE(lines.removeDuplicates(), 0);
        menu->actions().front()->trigger();
        QCOMPARE(QGuiApplication::clipboard()->text(), pane.header()->toolTip());
        menu->actions().back()->trigger();
        QCOMPARE(QGuiApplication::clipboard()->text(), pane.header()->toolTip().section(QLatin1Char('\n'), -1));
    }

    void nStandsBesideTheMean() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        controller.adoptSession(session(3, 40, Mode::free_running));
        const QString words = lanes.panes()[1]->header()->accessibleName();
        QVERIFY2(words.contains(QStringLiteral("mean KL")) && words.contains(QStringLiteral(", n 4 · 1 unread,")),
                 qPrintable(words));
        QCOMPARE(shortMetric(lanes.panes()[1]->header()->content()).beside, QStringLiteral("n 4"));
    }

    void nothingReadIsNoFigure() {
        Session s = session(2, 0);
        std::vector<StepRecord> records;
        for (int lane = 0; lane < 2; ++lane)
            for (int step = 0; step < 5; ++step) {
                StepRecord r;
                r.lane = lane, r.step = step, r.position = 1 + step, r.token_id = 2;
                r.coverage = {0, 100, 0, 100};
                records.push_back(r);
            }
        s.run.append(std::move(records));
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        controller.adoptSession(s);
        const LaneHeaderContent& content = lanes.panes()[1]->header()->content();
        for (const LaneMetric& m : laneMetrics(content))
            if (m.key.contains(QStringLiteral("KL")) || m.key.contains(QStringLiteral("top-1"))) {
                QCOMPARE(m.value, QStringLiteral("0 % read"));
                QVERIFY(m.dim);
            }
        QCOMPARE(shortMetric(content).value, QStringLiteral("0 % read"));
        QVERIFY(shortMetric(content).dim);
        QCOMPARE(tokenErrorText(controller.run(), 1, controller.run().lane(1)[2]), QStringLiteral("KL: 0 % read"));
        // A mean over few tokens says how many of them had read nothing yet.
        StepRecord last = controller.run().lane(1)[4];
        last.step = 5, last.kl = 3, last.coverage = {50, 100, 50, 100};
        s.run.append(std::vector<StepRecord>{last});
        controller.adoptSession(s);
        const LaneHeaderContent& now = lanes.panes()[1]->header()->content();
        QVERIFY2(metricsInWords(now).contains(QStringLiteral("n 6 · 5 unread")), qPrintable(metricsInWords(now)));
        QVERIFY(headerToolTip(now).contains(QStringLiteral("5 of the n tokens")));
        QVERIFY(tokenErrorText(controller.run(), 1, last).startsWith(QStringLiteral("KL 3")));
    }

    void aStoppedLaneHasNoFiguresAndSaysWhy() {
        Session s = session(3, 40);
        s.run.append(std::vector<LaneStop>{{0, 1, "the cache is full"}});
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.resize(900, 500);
        lanes.show();
        controller.adoptSession(s);
        const LaneHeader* header = lanes.panes()[1]->header();
        QVERIFY(header->shownMetrics().isEmpty());
        QVERIFY(header->accessibleName().contains(QStringLiteral("the cache is full")));
        QVERIFY(!header->accessibleName().contains(QStringLiteral("KL")));
        QVERIFY(header->toolTip().contains(QStringLiteral("the cache is full")));
        LaneBody* body = lanes.panes()[1]->body();
        QCOMPARE(body->note(), QStringLiteral("No figures: the cache is full"));
        QVERIFY(!body->stepRect(0).isNull() || !body->stepRect(39).isNull());  // what was measured stays to be read
        QVERIFY(!lanes.panes()[2]->header()->shownMetrics().isEmpty());
        // no tint and no flip: its text looks as that of a lane without errors
        QCoreApplication::processEvents();
        const QImage stopped = body->grab().toImage();
        Session calm = session(3, 40, Mode::teacher_forced, 0);
        calm.run.append(std::vector<LaneStop>{{0, 1, "the cache is full"}});
        controller.adoptSession(calm);
        QCoreApplication::processEvents();
        QCOMPARE(stopped, lanes.panes()[1]->body()->grab().toImage());
        controller.adoptSession(session(3, 40));
        QCoreApplication::processEvents();
        const QImage tinted = lanes.panes()[1]->body()->grab().toImage();
        auto late = controller.session();
        late.run.append(std::vector<LaneStop>{{0, 1, "the cache is full"}});
        controller.adoptSession(late);
        QCoreApplication::processEvents();
        QVERIFY(tinted != lanes.panes()[1]->body()->grab().toImage());
    }

    void tabsTakeTheColoursOfTheTheme() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.show();
        const Session s = session(8, 100);
        controller.adoptSession(s);
        lanes.resize(640, lanes.minimumSizeHint().height() + 10);
        QCoreApplication::processEvents();
        for (const Theme::Kind kind : {Theme::Kind::dark, Theme::Kind::high_contrast, Theme::Kind::light}) {
            Theme::instance().apply(*qApp, kind, 1);
            lanes.restyle();
            auto* bar = lanes.findChild<QTabBar*>(QStringLiteral("lane-tabs"));
            for (int lane = 0; lane < 8; ++lane) {
                const QImage expected =
                    chipPixmap(Theme::instance().laneOf(s.experiment, lane), bar->iconSize().width(), 1).toImage();
                QCOMPARE(bar->tabIcon(lane).pixmap(bar->iconSize()).toImage().convertToFormat(expected.format()),
                         expected);
            }
        }
    }

    /// Qt forgets that a widget was hidden when that happens while it is being shown.
    void tabsAreThereOrNot() {
        RunController controller;
        ViewState view;
        QWidget window;
        auto* lanes = new LanesView(controller, view, &window);
        auto* column = new QVBoxLayout(&window);
        column->addWidget(lanes);
        lanes->setTextPoints(14, 2, 2);
        controller.adoptSession(session(5, 60));
        window.resize(752, 300);
        window.show();
        for (const double scale : {1.0, 1.5})
            for (const QSize size : {QSize(752, 300), QSize(1280, 560), QSize(752, 560), QSize(1280, 300)}) {
                window.resize(size);
                Theme::instance().apply(*qApp, Theme::Kind::light, scale);
                lanes->restyle();
                lanes->setTextPoints(14, 2, 2);
                for (int i = 0; i < 4; ++i)
                    QCoreApplication::processEvents();
                QCOMPARE(lanes->tabs()->isVisible(), lanes->shape().tabs);
                QCOMPARE(lanes->tabs()->isVisible(), !lanes->tabs()->isHidden());
            }
    }

    void aNoteLeavesThreeLinesOfText() {
        Session s = session(3, 60);
        std::string why = "the cache is full";
        for (int i = 0; i < 60; ++i)
            why += " and then";
        s.run.append(std::vector<LaneStop>{{0, 1, why}});
        RunController controller;
        ViewState view;
        LanePane pane(controller, view, nullptr);
        controller.adoptSession(s);
        pane.setLane(1);
        pane.show();
        const auto tip = [&](const QPoint& at) { return pane.body()->tipAt(at); };
        pane.resize(300, 190);
        QCoreApplication::processEvents();
        QVERIFY(pane.body()->visibleHeight() >= kLeastLines * pane.body()->lineHeight());
        QVERIFY(tip(QPoint(40, 12)).contains(QStringLiteral("the cache is full")));  // in the line above the text
        pane.resize(300, 900);
        QCoreApplication::processEvents();
        QVERIFY(pane.body()->visibleHeight() < 600 && tip(QPoint(40, 12)).isEmpty());  // all of it is printed
    }

    void tabsReachEveryLane() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.setTextPoints(11, 1, 4);
        lanes.show();
        controller.adoptSession(session(8, 100));
        lanes.resize(640, lanes.minimumSizeHint().height() + 10);
        QCoreApplication::processEvents();
        QVERIFY(lanes.shape().tabs);
        QVERIFY(lanes.tabs()->isVisible());
        QCOMPARE(lanes.panesInSight().size(), size_t(2));
        QCOMPARE(lanes.panesInSight()[0]->lane(), 0);  // the reference beside the first lane
        QCOMPARE(lanes.panesInSight()[1]->lane(), 1);
        auto* bar = lanes.findChild<QTabBar*>(QStringLiteral("lane-tabs"));
        QCOMPARE(bar->count(), 8);
        for (int lane = 1; lane < 8; ++lane) {
            QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(lane).center());
            QCoreApplication::processEvents();
            QCOMPARE(lanes.panesInSight()[1]->lane(), lane);
            checkLines(lanes);
            QVERIFY(!bar->tabToolTip(lane).isEmpty());
            QVERIFY(bar->rect().contains(bar->tabRect(lane)));
        }
        // compare with another lane, and with none
        auto* beside = lanes.findChild<QToolButton*>(QStringLiteral("lane-beside"));
        emit beside->menu()->aboutToShow();
        beside->menu()->actions()[2]->trigger();
        QCOMPARE(lanes.panesInSight()[0]->lane(), 2);
        emit beside->menu()->aboutToShow();
        beside->menu()->actions().last()->trigger();
        QCoreApplication::processEvents();
        QCOMPARE(lanes.panesInSight().size(), size_t(1));
        QCOMPARE(lanes.panesInSight()[0]->lane(), 7);
        // the choice stays when a lane is hidden and shown
        view.setLaneShown(3, false);
        QCOMPARE(lanes.panesInSight()[0]->lane(), 7);
        view.setLaneShown(3, true);
        QCOMPARE(lanes.panesInSight()[0]->lane(), 7);
        lanes.resize(1600, 1000);
        QCoreApplication::processEvents();
        QVERIFY(!lanes.shape().tabs);
        QCOMPARE(lanes.panesInSight().size(), size_t(8));
    }

    void forcedLanesScrollTogether() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.setTextPoints(11, 1, 4);
        lanes.resize(905, 420);  // columns of unequal width
        lanes.show();
        controller.adoptSession(session(3, 400));
        QCoreApplication::processEvents();
        const auto top = [&](size_t pane) {
            LaneBody* body = lanes.panes()[pane]->body();
            return body->placeAt(body->scrolled());
        };
        auto* bar = lanes.findChild<QScrollBar*>();
        for (const int part : {3, 2, 5}) {
            bar->setValue(bar->maximum() / part);
            QVERIFY(!lanes.following());
            QVERIFY(top(0) > 0);
            for (size_t pane = 1; pane < 3; ++pane)
                QVERIFY(std::abs(top(pane) - top(0)) <= 2);  // a line may break elsewhere
        }
        // hiding and showing a lane keeps the place, though the lines break elsewhere meanwhile
        const int place = top(0);
        view.setLaneShown(2, false);
        QCoreApplication::processEvents();
        QVERIFY(std::abs(top(0) - place) <= 8);
        view.setLaneShown(2, true);
        QCoreApplication::processEvents();
        for (size_t pane = 0; pane < 3; ++pane)
            QVERIFY2(std::abs(top(pane) - place) <= 8, qPrintable(QString::number(top(pane))));
        lanes.setFollowing(true);
        for (LanePane* pane : lanes.panes())
            QCOMPARE(pane->body()->scrolled(), pane->body()->endScroll());
    }

    void freeLanesFollowTheirOwnEnd() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.setTextPoints(11, 1, 4);
        lanes.resize(905, 420);
        lanes.show();
        controller.adoptSession(session(3, 600, Mode::free_running));
        QCoreApplication::processEvents();
        for (const int last : {0, 1, 2})
            QVERIFY(!lanes.panes()[size_t(last)]->body()->stepRect(600 / (1 + last) - 1).isNull());
        // a click on the flip mark goes there, in all lanes
        LaneBody* body = lanes.panes()[1]->body();
        QVERIFY(body->stepRect(3).isNull());
        QTest::mouseClick(body, Qt::LeftButton, Qt::NoModifier, QPoint(40, 12));
        QVERIFY(!body->stepRect(3).isNull());
        QVERIFY(!lanes.panes()[0]->body()->stepRect(3).isNull());
        QVERIFY(!lanes.following());
        // at any place no lane is blank
        auto* bar = lanes.findChild<QScrollBar*>();
        for (int y = 0; y <= bar->maximum(); y += bar->singleStep()) {
            bar->setValue(y);
            for (LanePane* pane : lanes.panes())
                QVERIFY(pane->body()->scrolled() <= pane->body()->endScroll());
        }
        QVERIFY(lanes.following());
    }
};

QTEST_MAIN(TestLanesShape)
#include "tst_lanes_shape.moc"
