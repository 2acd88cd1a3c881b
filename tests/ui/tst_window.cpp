// SPDX-License-Identifier: GPL-3.0-or-later
// The real window, driven by keys: type a prompt, run four lanes, compare the plots' tables with what was recorded,
// export, save, reload.
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QtGui/QDropEvent>
#include <algorithm>
#include <memory>

#include "core/session/session_file.h"
#include "support/default_model.h"
#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/plots/lines_chart.h"
#include "ui/plots/plot_text.h"
#include "ui/plots/readout_line.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/prompt_dialog.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestWindow : public QObject {
    Q_OBJECT

    Settings settings_{false};
    std::unique_ptr<MainWindow> window_;
    QTemporaryDir folder_;

    PlotDock* plot(const char* id) const {
        for (PlotDock* dock : window_->plotDocks())
            if (dock->entry().id == QLatin1String(id)) return dock;
        return nullptr;
    }
    EngineState state() const { return window_->controller().status().state; }

    /// Points that the first plot of lines in sight has, and the records that its lane has; -1: none is in sight.
    std::pair<int, int> pointsInSight() const {
        for (PlotDock* dock : window_->plotDocks())
            for (const LinesChart* chart : dock->plot()->findChildren<LinesChart*>())
                if (chart->isVisible() && !chart->lines().isEmpty()) {
                    const LinesChart::Line& line = chart->lines().constLast();
                    return {line.line->dataCount(), int(window_->controller().run().lane(line.lane).size())};
                }
        return {-1, -1};
    }

    static QByteArray contents(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    void drop(const QString& path) {
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_.get(), &enter);  // the widget that accepts it is where the drop goes
        QDropEvent event(QPointF(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_.get(), &event);
        QTest::qWait(50);
    }

    /// Types into the prompt editor that the action opens, as a person does.
    void typePrompt(const QString& text, int n_tokens) {
        bool typed = false;
        QTimer::singleShot(100, this, [&] {
            auto* dialog = qobject_cast<PromptDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            auto* field = dialog->findChild<QPlainTextEdit*>(QStringLiteral("prompt-text"));
            QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
            QTest::keyClicks(field, text);
            typed = field->toPlainText() == text;
            QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("primary")), Qt::LeftButton);
        });
        QTest::keyClick(window_.get(), Qt::Key_P, Qt::ControlModifier);
        QVERIFY(typed);
        init();
        Experiment e = window_->controller().experiment();
        e.n_tokens = n_tokens;
        e.mode = Mode::teacher_forced;
        window_->edits().apply(QStringLiteral("fewer tokens"), e);
    }

 private slots:
    void initTestCase() {
        window_ = std::make_unique<MainWindow>(settings_);
        window_->resize(1400, 900);  // the screen of the offscreen platform is a small one
        window_->show();
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));  // shortcuts work in the active window only
    }

    /// A dialog that closed leaves no active window on the offscreen platform; shortcuts need one.
    void init() {
        window_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    }

    void hasADockForEveryPlot() {
        QVERIFY(!plotRegistry().empty());
        for (const PlotEntry& entry : plotRegistry())
            QVERIFY2(window_->findChild<QDockWidget*>(entry.id), qPrintable(entry.id));
    }

    void refusesFilesWithAReason() {
        drop(folder_.filePath(QStringLiteral("nothing.gguf")));
        MessageBar* bar = window_->messages().message(QStringLiteral("file"));
        QVERIFY(bar && bar->sentence().contains(QStringLiteral("not there")));
        QFile picture(folder_.filePath(QStringLiteral("picture.png")));
        QVERIFY(picture.open(QIODevice::WriteOnly));
        picture.close();
        drop(picture.fileName());
        bar = window_->messages().message(QStringLiteral("file"));
        QVERIFY(bar && bar->sentence().contains(QStringLiteral(".kvasir")));
    }

    void takesDroppedText() {
        QFile text(folder_.filePath(QStringLiteral("text.txt")));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write("A dropped text.");
        text.close();
        drop(text.fileName());
        QCOMPARE(window_->controller().experiment().prompt, std::string("A dropped text."));
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(window_->controller().experiment().prompt != "A dropped text.");
    }

    void findsACommandByItsWords() {
        QTimer::singleShot(100, this, [] {
            auto* palette = qobject_cast<CommandPalette*>(QApplication::activeModalWidget());
            if (!palette) return;
            QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("theme dark"));
            QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
        });
        QTest::keyClick(window_.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(Theme::instance().kind(), Theme::Kind::dark);
        window_->setTheme(QStringLiteral("light"));
    }

    void presentHidesTheExperimentAndEscReturns() {
        auto* dock = window_->findChild<QDockWidget*>(QStringLiteral("experiment"));
        QVERIFY(dock->isVisible());
        QTest::keyClick(window_.get(), Qt::Key_2, Qt::ControlModifier);
        QVERIFY(!dock->isVisible());
        QCOMPARE(Theme::instance().typeScale(), 1.5);
        const auto buttons = plot("error-per-token")->titleBarWidget()->findChildren<QToolButton*>();
        QVERIFY(!buttons.isEmpty());
        for (const QToolButton* button : buttons)
            QVERIFY(button->iconSize().width() >= 18);  // icons grow with the type
        QTest::keyClick(window_.get(), Qt::Key_Escape);
        QVERIFY(dock->isVisible());
        QCOMPARE(Theme::instance().typeScale(), 1.0);
    }

    void f6ReachesEveryPane() {
        QSet<QString> reached;
        for (int i = 0; i < 8; ++i) {
            QTest::keyClick(window_.get(), Qt::Key_F6);
            QWidget* w = window_->focusWidget();
            QVERIFY(w);
            while (w->parentWidget() && w->parentWidget() != window_.get())
                w = w->parentWidget();
            reached.insert(QLatin1String(w->metaObject()->className()));
        }
        QVERIFY(reached.size() >= 3);
    }

    void theMouseMovesLanes() {
        const Experiment before = window_->controller().experiment();
        const int n_edits = window_->edits().stack().index();
        const auto row = [&](int lane) {
            auto* found = window_->findChild<QWidget*>(QStringLiteral("lane-row-%1").arg(lane));
            return found;
        };
        auto* line = window_->findChild<QWidget*>(QStringLiteral("drop-line"));
        QVERIFY(row(3) && line);
        const auto drag = [&](int from, int to, int into) {
            QWidget* dragged = row(from);
            const QPointer<QWidget> old = dragged;
            const QPoint start(dragged->width() / 2, dragged->height() / 2);
            const QPoint end = dragged->mapFromGlobal(row(to)->mapToGlobal(QPoint(start.x(), into)));
            QTest::mousePress(dragged, Qt::LeftButton, {}, start);
            QTest::mouseMove(dragged, start + QPoint(0, 1));
            QVERIFY(!line->isVisible());
            QTest::mouseMove(dragged, end);
            QTest::mouseMove(dragged, end);
            QVERIFY(line->isVisible());
            QTest::mouseRelease(dragged, Qt::LeftButton, {}, end);
            QVERIFY(!line->isVisible());
            QTRY_VERIFY(!old);  // the list is made anew
            QTRY_VERIFY(row(3)->y() > row(2)->y() && row(2)->y() > row(1)->y());
        };
        drag(3, 1, 1);  // above the first quantized lane
        Experiment moved = before;
        std::rotate(moved.lanes.begin() + 1, moved.lanes.begin() + 3, moved.lanes.end());
        QVERIFY(window_->controller().experiment() == moved);
        QCOMPARE(window_->edits().stack().index(), n_edits + 1);
        drag(0, 2, row(2)->height() - 1);  // the reference, downwards
        QCOMPARE(window_->controller().experiment().reference, 2);
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(window_->controller().experiment() == before);
        QTest::qWait(20);
        QTest::mouseClick(row(1), Qt::LeftButton, {}, QPoint(row(1)->width() / 2, 3));  // a click moves nothing
        QVERIFY(window_->controller().experiment() == before);
    }

    void theNoiseFloorIsAnExperimentEdit() {
        auto* box = window_->findChild<QCheckBox*>(QStringLiteral("noise-floor"));
        QVERIFY(box && box->isChecked());  // measured unless it is left out
        QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(6, box->height() / 2));
        QVERIFY(!window_->controller().experiment().noise_floor && !box->isChecked());
        QVERIFY(experiment_to_json(window_->controller().experiment())["noise_floor"] == false);
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(window_->controller().experiment().noise_floor && box->isChecked());
    }

    void runsFourLanesAndPlotsWhatWasRecorded() {
        KVASIR_NEEDS_MODEL(model);
        window_->openPath(QString::fromStdString(model), false);
        QTRY_VERIFY_WITH_TIMEOUT(window_->controller().model(), 120000);
        typePrompt(QStringLiteral("The keeper of the lighthouse has a cat named Biscuit. The cat is named"), 8);
        QCOMPARE(window_->controller().experiment().lanes.size(), size_t(4));
        auto* chart = plot("memory")->plot()->findChild<LinesChart*>();
        QTRY_VERIFY(!chart->lines().isEmpty() && chart->lines()[0].predicted->dataCount() == 8);
        QTest::keyClick(window_.get(), Qt::Key_F5);
        QTRY_COMPARE_WITH_TIMEOUT(state(), EngineState::finished, 300000);

        const RunModel& run = window_->controller().run();
        QCOMPARE(run.n_lanes(), 4);
        const size_t n = run.lane(0).size();  // 8, or fewer where the model ends its text
        QVERIFY(n >= 4 && n <= 8);
        QStringList expected;
        for (int lane = 0; lane < 4; ++lane) {
            QCOMPARE(run.lane(lane).size(), n);
            for (const StepRecord& r : run.lane(lane))
                expected << QStringLiteral("%1 %2 %3 %4")
                                .arg(QString::fromLatin1(laneLetter(run, lane)))
                                .arg(r.step)
                                .arg(r.token_id)
                                .arg(double(r.kl), 0, 'g', 9);
        }
        const QVector<QStringList> table = parseCsv(plot("error-per-token")->plot()->csv());
        const qsizetype lane = table[0].indexOf(QStringLiteral("lane")),
                        step = table[0].indexOf(QStringLiteral("step")),
                        token = table[0].indexOf(QStringLiteral("token_id")),
                        kl = table[0].indexOf(QStringLiteral("kl"));
        QVERIFY(lane >= 0 && step >= 0 && token >= 0 && kl >= 0);
        QStringList plotted;
        for (const QStringList& row : table.mid(1))
            plotted << QStringLiteral("%1 %2 %3 %4")
                           .arg(row[lane], row[step], row[token])
                           .arg(double(row[kl].toFloat()), 0, 'g', 9);
        QCOMPARE(plotted, expected);
        const QVector<QStringList> memory = parseCsv(plot("memory")->plot()->csv());
        QCOMPARE(memory.size(), qsizetype(1 + 4 * n));
        const qsizetype total = memory[0].indexOf(QStringLiteral("total_bytes"));
        QCOMPARE(memory[1][total].toULongLong(), qulonglong(run.lane(0)[0].bytes.total()));
        const qsizetype predicted = memory[0].indexOf(QStringLiteral("predicted_bytes"));
        for (const QStringList& row : memory.mid(1))
            QVERIFY(std::abs(row[predicted].toDouble() / row[total].toDouble() - 1) < 0.001);
        QVERIFY(run.noise_floor().n == int(n) && run.noise_floor().kl_mean > 0);
        QVERIFY(run.noise_floor().kl_mean < run.summary(1).kl_mean);
        QVERIFY(!plot("error-per-token")->plot()->findChild<LinesChart*>()->floorBand().empty());
        const QString floor = errorText(run.noise_floor().kl_mean);
        const auto header = [&](size_t pane) { return window_->lanes().panes()[pane]->header()->accessibleName(); };
        QTRY_VERIFY(header(0).contains(QStringLiteral("noise floor ") + floor));
        QVERIFY2(header(1).contains(QStringLiteral("/ ") + floor), qPrintable(header(1)));
        QCOMPARE(window_->lanes().panes().size(), size_t(4));
    }

    void oneClickMakesTheComparisonEqual() {
        if (window_->controller().run().empty()) QSKIP("needs the run of the test before, and so the default model");
        const auto button = [&]() -> QPushButton* {
            MessageBar* bar = window_->messages().message(QStringLiteral("unequal"));
            return bar ? bar->findChild<QPushButton*>() : nullptr;
        };
        const Experiment before = window_->controller().experiment();
        const int n_edits = window_->edits().stack().index();
        QVERIFY(button());
        QTest::mouseClick(button(), Qt::LeftButton);
        for (size_t lane = 1; lane < 4; ++lane) {
            const CacheSpec& spec = window_->controller().experiment().lanes[lane].spec;
            QCOMPARE(spec.residual_k, 128);
            QCOMPARE(spec.residual_v, 128);
        }
        QCOMPARE(window_->edits().stack().index(), n_edits + 1);
        QVERIFY(!button());  // the run shown is still unequal, and says so
        QVERIFY(window_->messages().message(QStringLiteral("unequal")));
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(window_->controller().experiment() == before);
        QVERIFY(button());

        Experiment impossible = before;  // no residual is a multiple of both groups
        impossible.lanes[1].spec = parse_cache_spec("kivi:2,group=48,residual=48").value();
        impossible.lanes[2].spec = parse_cache_spec("kivi:4,group=40,residual=40").value();
        window_->edits().apply(QStringLiteral("two groups"), impossible);
        QTest::mouseClick(button(), Qt::LeftButton);
        QVERIFY(window_->controller().experiment() == impossible);
        MessageBar* why = window_->messages().message(QStringLiteral("make-equal"));
        QVERIFY(why && why->sentence().contains(QStringLiteral("multiple of the group")));
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(window_->controller().experiment() == before);
    }

    void exportsEveryPlotAndTheTranscript() {
        if (window_->controller().run().empty()) QSKIP("needs the run of the test before, and so the default model");
        QSignalSpy done(window_.get(), &MainWindow::exported);
        const QString title = window_->windowTitle(), out = folder_.filePath(QStringLiteral("all"));
        const QString shown = plot("error-per-token")->plot()->findChild<ReadoutLine*>()->accessibleName();
        window_->exportAllTo(out);
        QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 60000);
        QCOMPARE(done[0][1].toString(), QString());
        QCOMPARE(window_->windowTitle(), title);  // the copy in the folder is not where Save goes
        QCOMPARE(plot("error-per-token")->plot()->findChild<ReadoutLine*>()->accessibleName(), shown);
        const QDir dir(out);
        // every view of every plot, every lane
        for (const char* name : {"error-per-token-rank.svg", "error-per-token-perplexity.png", "memory-by-kind.png",
                                 "tokens-per-second-time-split.pdf", "error-by-layer-b-quanto-int2.svg",
                                 "distributions-a-quanto-int4-keys.png", "distributions-r-fp16-values.csv", "lanes.csv",
                                 "transcript.csv", "transcript.txt"})
            QVERIFY2(dir.exists(QLatin1String(name)), qPrintable(dir.entryList().join(QLatin1Char(' '))));
        QVERIFY(contents(dir.filePath(QStringLiteral("error-per-token.png"))).startsWith("\x89PNG"));
        QVERIFY(contents(dir.filePath(QStringLiteral("error-per-token.pdf"))).startsWith("%PDF"));
        QVERIFY(contents(dir.filePath(QStringLiteral("memory.svg"))).contains("<svg"));
        QCOMPARE(contents(dir.filePath(QStringLiteral("memory.csv"))), plot("memory")->plot()->csv());
        const QString transcript = QString::fromUtf8(contents(dir.filePath(QStringLiteral("transcript.txt"))));
        QVERIFY(transcript.contains(QStringLiteral("Biscuit")) && transcript.contains(QStringLiteral("Quanto int2")));
        QVERIFY(QFile::exists(dir.filePath(QStringLiteral("session.kvasir"))));
    }

    void savesAndReloadsASession() {
        if (window_->controller().run().empty()) QSKIP("needs the run of the test before, and so the default model");
        const QString path = folder_.filePath(QStringLiteral("a.kvasir"));
        const QByteArray before = plot("error-per-token")->plot()->csv();
        const Experiment experiment = window_->controller().experiment();
        window_->view().setCrosshairStep(3);
        window_->view().setLaneShown(1, false);
        QSignalSpy saved(window_.get(), &MainWindow::sessionSaved);
        window_->saveSessionTo(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 60000);
        QCOMPARE(saved[0][1].toString(), QString());

        MainWindow other(settings_);
        other.show();
        QSignalSpy opened(&other, &MainWindow::sessionOpened);
        other.openSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 60000);
        QCOMPARE(opened[0][1].toString(), QString());
        QVERIFY(other.controller().experiment() == experiment);
        QCOMPARE(other.view().crosshairStep(), 3);
        QVERIFY(!other.view().laneShown(1));
        QCOMPARE(other.lanes().panes().size(), size_t(3));
        for (PlotDock* dock : other.plotDocks())
            if (dock->entry().id == QLatin1String("error-per-token")) QCOMPARE(dock->plot()->csv(), before);
        window_->view().setLaneShown(1, true);
    }

    void stopAnswersWhileRunning() {
        if (!window_->controller().model()) QSKIP("needs the default model");
        Experiment e = window_->controller().experiment();
        e.n_tokens = e.min_tokens = 4000;  // the model would end its text before it can be stopped
        window_->edits().apply(QStringLiteral("many"), e);
        QTest::keyClick(window_.get(), Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(state() == EngineState::running, 60000);
        QTest::keyClick(window_.get(), Qt::Key_Escape);  // closes what is open, not a run: it could not go on
        QTest::qWait(100);
        QCOMPARE(state(), EngineState::running);
        QTest::keyClick(window_.get(), Qt::Key_Period, Qt::ControlModifier);
        QTRY_COMPARE_WITH_TIMEOUT(state(), EngineState::stopped, 60000);
    }

    void firstTokensAndStepsAreInThePlotsAtOnce() {
        if (!window_->controller().model()) QSKIP("needs the default model");
        RunController& controller = window_->controller();
        for (PlotDock* dock : window_->plotDocks())
            if (dock->entry().id == QLatin1String("memory")) dock->show(), dock->raise();
        Experiment e = controller.experiment();
        e.n_tokens = e.min_tokens = 400;
        window_->edits().apply(QStringLiteral("many again"), e);
        // asked after the plots have heard the same: what came first is drawn, and nothing is held back in a pause
        std::pair<int, int> first{0, 0}, paused{0, 0};
        QObject scope;
        connect(&controller, &RunController::recordsAppended, &scope, [&] {
            if (first.second == 0) first = pointsInSight();
        });
        connect(&controller, &RunController::statusChanged, &scope, [&] {
            if (state() == EngineState::paused) paused = pointsInSight();
        });
        controller.start();
        QTRY_VERIFY_WITH_TIMEOUT(first.second > 0, 60000);
        QCOMPARE(first.first, first.second);
        controller.pause();
        QTRY_COMPARE_WITH_TIMEOUT(state(), EngineState::paused, 60000);
        QCOMPARE(paused.first, paused.second);
        for (int i = 0; i < 3; ++i) {
            const int n_done = controller.status().n_done;
            controller.step();
            QTRY_VERIFY_WITH_TIMEOUT(state() == EngineState::paused && controller.status().n_done > n_done, 60000);
            QCOMPARE(paused.second, controller.status().n_done);
            QCOMPARE(paused.first, paused.second);
        }
        controller.stop();
        QTRY_VERIFY_WITH_TIMEOUT(!controller.underWay(), 60000);
    }

    void saysWhenASessionIsBroken() {
        QFile broken(folder_.filePath(QStringLiteral("broken.kvasir")));
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("{\"version\":");
        broken.close();
        QSignalSpy opened(window_.get(), &MainWindow::sessionOpened);
        window_->openPath(broken.fileName());
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
        QVERIFY(!opened[0][1].toString().isEmpty());
        QVERIFY(window_->messages().message(QStringLiteral("file")));
        if (!window_->controller().model()) return;
        QSignalSpy loaded(&window_->controller(), &RunController::modelChanged);
        window_->openPath(QString::fromStdString(window_->controller().model()->file().path()), false);
        QTRY_COMPARE_WITH_TIMEOUT(loaded.size(), 1, 60000);
        QVERIFY(window_->messages().message(QStringLiteral("file")) == nullptr);  // the next file that opens answers it
        broken.rename(folder_.filePath(QStringLiteral("again.kvasir")));
        window_->openPath(folder_.filePath(QStringLiteral("again.kvasir")));
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 2, 30000);
        window_->controller().loadModel(QString::fromStdString(window_->controller().model()->file().path()));
        QTRY_COMPARE_WITH_TIMEOUT(loaded.size(), 2, 60000);
        QVERIFY(window_->messages().message(QStringLiteral("file")));  // a model that was on its way does not
    }
};

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
