// SPDX-License-Identifier: GPL-3.0-or-later
// Where the engine's thread meets the window: closing is safe at any moment, and storms of commands leave an engine
// that still does its work.
#include <QApplication>
#include <QPointer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <random>

#include "core/session/run_fixture.h"
#include "support/default_model.h"
#include "support/gguf_writer.h"
#include "support/roomy_model.h"
#include "ui/shell/lane_list.h"
#include "ui/shell/main_window.h"

using namespace kvasir;
using namespace kvasir::ui;

namespace {

Experiment longRun() {
    Experiment e = test::experiment({"fp16", "quanto:4,group=32,residual=8", "kivi:2,group=8,residual=8"}, 200);
    e.score_text = false;
    e.prompt = "the keeper wrote the names";
    e.min_tokens = e.n_tokens;
    e.noise_floor = true;
    return e;
}

}  // namespace

class TestClosing : public QObject {
    Q_OBJECT
    std::mt19937 random_{20261201};
    QTemporaryDir folder_;
    const QString tiny_ = folder_.filePath(QStringLiteral("tiny.gguf"));

    int below(int n) { return int(random_() % unsigned(n)); }
    static EngineState state(const MainWindow& window) {
        return const_cast<MainWindow&>(window).controller().status().state;
    }
    static bool loaded(MainWindow& window, const QString& path) {
        window.openPath(path, false);
        return QTest::qWaitFor([&] { return window.controller().model() != nullptr; }, 120000);
    }

 private slots:
    void initTestCase() {
        QVERIFY(test::write_roomy_model(tiny_));
        // The default model is found by its folder, which the next lines move.
        if (const std::string model = test::default_model(); !model.empty()) qputenv("KVASIR_MODEL", model.c_str());
        for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"})
            qputenv(name, folder_.path().toUtf8());
    }

    void closingIsSafeAtAnyMoment() {
        for (int round = 0; round < 40; ++round) {
            Settings settings(round % 2 == 0);
            auto window = std::make_unique<MainWindow>(settings);
            window->show();
            window->openPath(tiny_, false);
            if (round % 8 != 0) QVERIFY(loaded(*window, tiny_));
            window->controller().setExperiment(longRun());
            window->controller().start();
            QTest::qWait(below(25));
            switch (round % 4) {
                case 0:
                    window->saveSessionTo(folder_.filePath(QStringLiteral("closing.kvasir")));
                    break;
                case 1:
                    window->openSession(folder_.filePath(QStringLiteral("closing.kvasir")));
                    break;
                case 2:
                    window->controller().pause();
                    break;
                default:
                    window->exportAllTo(folder_.filePath(QStringLiteral("all")));
            }
            if (below(2)) QTest::qWait(below(10));
            if (below(4)) window->close();
            window.reset();
            QTest::qWait(1);  // what was posted to the window that is gone
        }
    }

    // The window looks thirty times a second; what lies between two looks may be a whole run and another model.
    void aRunKeepsTheModelItWasMadeWith() {
        const QString other = folder_.filePath(QStringLiteral("other.gguf"));
        QVERIFY(test::GgufWriter::tiny_llama().write(other));  // 12 tokens, where the run's model has 288
        Settings settings(false);
        MainWindow window(settings);
        QVERIFY(loaded(window, tiny_));
        RunController& controller = window.controller();
        const auto made_with = controller.model();
        Experiment e = longRun();
        e.n_tokens = e.min_tokens = 30;
        controller.setExperiment(e);
        controller.start();
        controller.engine().wait_until_idle();
        QCOMPARE(controller.engine().status().state, EngineState::finished);
        controller.loadModel(other);
        controller.engine().wait_until_idle();
        QCOMPARE(controller.engine().model()->tokenizer().size(), 12);
        QTRY_VERIFY(controller.model() && controller.model() != made_with && !controller.run().empty());
        const RunModel& run = controller.run();
        QCOMPARE(run.n_layers(), made_with->config().n_layers);
        QCOMPARE(run.lane(0).size(), size_t(30));
        for (const StepRecord& r : run.lane(0))
            QCOMPARE(run.piece_of(r.token_id), std::string(made_with->tokenizer().piece(r.token_id)));
    }

    // A session that opens, or a model that is loaded, makes the rows of the lanes anew: also of the one that is
    // dragged.
    void lanesMayChangeWhileOneIsDragged() {
        Settings settings(false);
        MainWindow window(settings);
        window.resize(1400, 800);
        window.show();
        auto* list = window.findChild<LaneList*>();
        QPointer<QWidget> row = window.findChild<QWidget*>(QStringLiteral("lane-row-1"));
        QVERIFY(list && row);
        const Experiment before = window.controller().experiment();
        QTest::mousePress(row, Qt::LeftButton, {}, QPoint(30, 5));
        QTest::mouseMove(row, QPoint(30, 60));
        list->rebuild();
        QVERIFY(row);  // it goes when the event that asked for it is over
        QTest::mouseMove(row, QPoint(30, 80));
        QTest::qWait(20);
        QVERIFY(!row);
        QVERIFY(window.controller().experiment() == before);
    }

    void aStormOfCommandsLeavesAnEngineThatWorks() {
        Settings settings(false);
        MainWindow window(settings);
        window.show();
        QVERIFY(loaded(window, tiny_));
        RunController& controller = window.controller();
        controller.setExperiment(longRun());
        for (int i = 0; i < 400; ++i) {
            switch (below(9)) {
                case 0:
                case 1:
                    controller.start();
                    break;
                case 2:
                    controller.pause();
                    break;
                case 3:
                    controller.resume();
                    break;
                case 4:
                    controller.step();
                    break;
                case 5:
                    controller.stop();
                    break;
                case 6:
                    controller.loadModel(tiny_);
                    break;
                case 7:
                    controller.engine().cancel_load();
                    break;
                default:
                    controller.adoptSession(controller.session());
            }
            if (below(3) == 0) QTest::qWait(below(8));
        }
        controller.stop();
        controller.stop();
        QTRY_VERIFY_WITH_TIMEOUT(!controller.underWay() && state(window) != EngineState::loading, 120000);
        Experiment e = longRun();
        e.n_tokens = e.min_tokens = 6;
        controller.setExperiment(e);
        controller.start();
        QTRY_VERIFY_WITH_TIMEOUT(state(window) == EngineState::finished || state(window) == EngineState::failed,
                                 120000);
        QVERIFY2(state(window) == EngineState::finished, controller.status().error.message().c_str());
        for (int lane = 0; lane < 3; ++lane)
            QCOMPARE(controller.run().lane(lane).size(), size_t(6));
    }

    void loadsCancelledAtRandomTimesKeepTheOldModel() {
        KVASIR_NEEDS_MODEL(model);
        Settings settings(false);
        MainWindow window(settings);
        QVERIFY(loaded(window, tiny_));
        const auto before = window.controller().model();
        for (int round = 0; round < 10; ++round) {
            window.controller().loadModel(QString::fromStdString(model));
            QTRY_VERIFY_WITH_TIMEOUT(state(window) == EngineState::loading || window.controller().model() != before,
                                     120000);
            QTest::qWait(below(60));
            window.controller().engine().cancel_load();
            QTRY_VERIFY_WITH_TIMEOUT(state(window) != EngineState::loading, 120000);
            if (window.controller().model() != before) break;  // it was quicker
            QCOMPARE(state(window), EngineState::idle);
        }
        QVERIFY(loaded(window, tiny_));
    }
};

QTEST_MAIN(TestClosing)
#include "tst_closing.moc"
