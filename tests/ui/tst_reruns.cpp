// SPDX-License-Identifier: GPL-3.0-or-later
// A second run in the same window: nothing that points into the run before may be used on the next one. Each of these
// sequences once ended the program. The model is tiny, so a run takes no time.
#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <memory>

#include "core/session/session_file.h"
#include "support/golden.h"
#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/plots/chart.h"
#include "ui/shell/main_window.h"
#include "ui/shell/plot_dock.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestReruns : public QObject {
    Q_OBJECT

    Settings settings_{false};
    std::unique_ptr<MainWindow> window_;

    const RunModel& run() const { return window_->controller().run(); }
    LaneBody* body(size_t pane) const { return window_->lanes().panes()[pane]->body(); }

    static Experiment experiment(int n_lanes, Mode mode = Mode::teacher_forced) {
        Experiment e;
        e.prompt = "Once upon a time";
        e.n_tokens = e.min_tokens = 90;
        e.mode = mode;
        const char* specs[] = {"fp16",
                               "quanto:2,group=16,residual=4",
                               "quanto:4,group=16,residual=4",
                               "hqq:2,group=16,residual=4",
                               "hqq:1,group=16,residual=4",
                               "fp8",
                               "hqq:3,group=16,residual=4",
                               "quanto:2,group=16,residual=16"};
        for (int i = 0; i < n_lanes; ++i)
            e.lanes.push_back({parse_cache_spec(specs[i]).value(), true});
        return e;
    }

    void runToTheEnd() {
        QSignalSpy began(&window_->controller(), &RunController::runBegan);
        window_->actions()["run"]->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!began.isEmpty() && window_->controller().runIsOver(), 60000);
        for (int lane = 0; lane < run().n_lanes(); ++lane)
            QVERIFY2(!run().lane(lane).empty(), run().info().lanes[size_t(lane)].error.message().c_str());
        QVERIFY(run().summary(1).first_flip >= 0);  // else nothing here would be tried
    }

    /// As many panes as lanes, each with all of its text and in the place the others have.
    void checkPanes() {
        QCOMPARE(int(window_->lanes().panes().size()), run().n_lanes());
        for (LanePane* pane : window_->lanes().panes()) {
            pane->grab();
            QVERIFY(pane->body()->contentHeight() > pane->body()->lineHeight());
        }
    }

    void clickToken(LaneBody* body, int step) {
        const QRect token = body->stepRect(step);
        QVERIFY(!token.isNull());
        QTest::mouseClick(body, Qt::LeftButton, Qt::NoModifier, token.center());
    }

 private slots:
    void init() {
        window_ = std::make_unique<MainWindow>(settings_);
        window_->resize(1140, 600);
        window_->show();
        window_->openPath(QString::fromStdString(test::golden_path("models/gguf/llama-gqa-Q8_0.gguf")), false);
        QTRY_VERIFY_WITH_TIMEOUT(window_->controller().model(), 30000);
    }
    void cleanup() {
        window_.reset();
        QCOMPARE(Theme::instance().typeScale(), 1.0);
    }

    void aLaneIsAddedBetweenTwoRuns() {
        window_->controller().setExperiment(experiment(4));
        runToTheEnd();
        window_->edits().addLane(experiment(5).lanes.back().spec);
        QCOMPARE(window_->controller().experiment().lanes.size(), size_t(5));
        runToTheEnd();
        checkPanes();
        Experiment e = experiment(4);
        e.lanes.resize(2);  // and fewer again
        window_->edits().apply(QStringLiteral("fewer"), e);
        runToTheEnd();
        checkPanes();
    }

    void fiveLanesRunTwice() {
        window_->controller().setExperiment(experiment(5));
        for (int i = 0; i < 3; ++i) {
            runToTheEnd();
            checkPanes();
        }
    }

    void largerTypeRunsTwice() {
        window_->controller().setExperiment(experiment(4));
        window_->actions()["larger"]->trigger();
        for (int i = 0; i < 3; ++i)
            runToTheEnd();
        checkPanes();
        window_->actions()["normal-size"]->trigger();
        runToTheEnd();
    }

    void presentRunsTwice() {
        window_->controller().setExperiment(experiment(4));
        window_->setPresent(true);
        for (int i = 0; i < 3; ++i)
            runToTheEnd();
        checkPanes();
        window_->setPresent(false);
        runToTheEnd();
    }

    void aSessionOfMoreLanesIsRun() {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("six.kvasir"));
        for (const bool measured : {false, true}) {
            Session six;
            six.experiment = experiment(6);
            if (measured) six.run = run();  // of six lanes, too
            QVERIFY(save_session(six, path.toStdString()).ok());
            window_->controller().setExperiment(experiment(3));
            runToTheEnd();
            QSignalSpy opened(window_.get(), &MainWindow::sessionOpened);
            window_->openPath(path);
            QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
            QCOMPARE(opened[0][1].toString(), QString());
            QCOMPARE(window_->lanes().panes().size(), size_t(6));
            QTRY_VERIFY_WITH_TIMEOUT(window_->controller().status().state != EngineState::loading, 30000);
            runToTheEnd();
            checkPanes();
        }
    }

    void freeRunningLanesRunTwice() {
        window_->controller().setExperiment(experiment(4, Mode::free_running));
        for (int i = 0; i < 3; ++i)
            runToTheEnd();
        checkPanes();
    }

    void theSameTokenIsClickedAgain() {
        window_->controller().setExperiment(experiment(4));
        runToTheEnd();
        QTest::keyClick(body(1), Qt::Key_Home);
        clickToken(body(1), 2);
        QCOMPARE(window_->view().crosshairStep(), 2);
        window_->view().setLaneShown(3, false);
        window_->view().setLaneShown(3, true);
        QTest::keyClick(body(1), Qt::Key_Home);
        clickToken(body(1), 2);
        QCOMPARE(window_->view().crosshairStep(), 2);
        QCOMPARE(body(1)->step(), 2);
        window_->view().setLaneShown(3, false);
        window_->view().setLaneShown(3, true);
        clickToken(body(1), 2);  // nothing moved the crosshair in between
        QTest::keyClick(body(1), Qt::Key_Return);
        QTest::keyClick(body(1), Qt::Key_Down);
        QVERIFY(window_->view().crosshairStep() > 2);
    }

    void theLastLaneHidesItselfFromItsOwnMenu() {
        window_->controller().setExperiment(experiment(3));
        runToTheEnd();
        bool chosen = false;
        QTimer::singleShot(200, this, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu) return;
            for (QAction* action : menu->actions())
                if (action->isCheckable() && action->isChecked() && !chosen) {
                    chosen = true;
                    QTest::mouseClick(menu, Qt::LeftButton, Qt::NoModifier, menu->actionGeometry(action).center());
                }
            if (menu) menu->close();
        });
        QTest::mouseClick(window_->lanes().panes()[2]->header()->menuButton(), Qt::LeftButton);
        QVERIFY(chosen);
        QCOMPARE(window_->lanes().panes().size(), size_t(2));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        runToTheEnd();
        checkPanes();
    }

    void nothingOfTheRunBeforeIsLeft() {
        window_->controller().setExperiment(experiment(4));
        runToTheEnd();
        QTest::keyClick(body(1), Qt::Key_Home);
        clickToken(body(1), 1);
        QTest::keyClick(body(1), Qt::Key_End);
        QTest::keyClick(body(1), Qt::Key_Return);
        QVERIFY(window_->lanes().popoverShown());
        window_->view().setLaneShown(2, false);
        window_->view().setCrosshairStep(89);
        std::vector<Chart*> charts;
        for (PlotDock* dock : window_->plotDocks())
            if (auto* chart = dock->findChild<Chart*>()) {
                QTest::keyClick(chart, Qt::Key_Plus);
                charts.push_back(chart);
            }
        QVERIFY(std::any_of(charts.begin(), charts.end(), [](Chart* chart) { return !chart->following(); }));
        Experiment e = experiment(4);
        e.n_tokens = e.min_tokens = 20;
        window_->edits().apply(QStringLiteral("shorter"), e);
        runToTheEnd();
        QCOMPARE(window_->view().crosshairStep(), -1);
        QVERIFY(!window_->lanes().popoverShown());
        QVERIFY(window_->lanes().following());
        checkPanes();
        for (Chart* chart : charts)
            QVERIFY(chart->following());
    }

    /// What a session file says about the view is only taken where the run has it.
    void aSessionCannotPointOutOfItsRun() {
        window_->controller().setExperiment(experiment(3));
        runToTheEnd();
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("view.kvasir"));
        for (const nlohmann::json& step : {nlohmann::json(-7), nlohmann::json(90), nlohmann::json(2000000000),
                                           nlohmann::json(1e300), nlohmann::json(18446744073709551615ull)}) {
            Session session = window_->controller().session();
            session.extra["view"] = {{"crosshair", step}, {"hidden_lanes", {step, 1}}};
            QVERIFY(save_session(session, path.toStdString()).ok());
            QSignalSpy opened(window_.get(), &MainWindow::sessionOpened);
            window_->openPath(path);
            QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
            QCOMPARE(window_->view().crosshairStep(), -1);
            QCOMPARE(window_->lanes().panes().size(), size_t(2));
            QTest::keyClick(body(0), Qt::Key_Down);
            QTest::keyClick(body(0), Qt::Key_Return);
        }
    }
};

QTEST_MAIN(TestReruns)
#include "tst_reruns.moc"
