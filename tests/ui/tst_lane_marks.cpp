// SPDX-License-Identifier: GPL-3.0-or-later
// Letter, colour and marker are a lane's for life: the panel, the lanes and the plots say the same, whatever is moved,
// copied and removed between two runs.
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <map>
#include <memory>
#include <set>

#include "core/session/session_file.h"
#include "support/golden.h"
#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/plots/lines_chart.h"
#include "ui/shell/chip.h"
#include "ui/shell/main_window.h"
#include "ui/shell/plot_dock.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestLaneMarks : public QObject {
    Q_OBJECT

    Settings settings_{false};
    std::unique_ptr<MainWindow> window_;

    using Letters = std::map<QString, QString>;  // by the name of the scheme

    static LaneSetup setup(const char* spec) { return {parse_cache_spec(spec).value(), true}; }
    const Experiment& experiment() const { return window_->controller().experiment(); }
    static QString nameOf(const LaneSetup& lane) { return QString::fromStdString(display_name(lane.spec)); }

    Letters inPanel() const {
        QCoreApplication::processEvents();
        Letters letters;
        for (size_t i = 0; i < experiment().lanes.size(); ++i) {
            const auto* row = window_->findChild<QWidget*>(QStringLiteral("lane-row-%1").arg(i));
            letters[nameOf(experiment().lanes[i])] = row->findChild<ChipWidget*>()->accessibleName();
        }
        return letters;
    }
    Letters inPanes() const {
        Letters letters;
        for (LanePane* pane : window_->lanes().panes()) {
            const QString words = pane->header()->accessibleName();  // Lane A, Quanto int4: ...
            const QString name = nameOf(window_->controller().shownExperiment().lanes[size_t(pane->lane())]);
            letters[name] = words.section(QLatin1Char(','), 0, 0).section(QLatin1Char(' '), 1);
        }
        return letters;
    }
    Letters inPlots() const {
        Letters letters;
        const RunModel& run = window_->controller().run();
        for (PlotDock* dock : window_->plotDocks())
            for (const LinesChart* chart : dock->findChildren<LinesChart*>())
                for (const LinesChart::Line& line : chart->lines()) {
                    const QString name = nameOf(run.info().experiment.lanes[size_t(line.lane)]);
                    const LaneLook look = Theme::instance().lane(line.index, line.reference);
                    if (letters.contains(name) && letters[name] != look.letter) return {};
                    letters[name] = look.letter;
                }
        return letters;
    }
    void runToTheEnd() {
        QSignalSpy began(&window_->controller(), &RunController::runBegan);
        window_->actions()["run"]->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!began.isEmpty() && window_->controller().runIsOver(), 60000);
    }
    /// Whoever is in two of them has one letter, and no letter is two lanes'.
    void checkAllSayTheSame() {
        const Letters panel = inPanel(), panes = inPanes(), plots = inPlots();
        QVERIFY(!plots.empty());
        Letters all = panel;
        for (const Letters& letters : {panes, plots})
            for (const auto& [name, letter] : letters) {
                if (all.contains(name)) QCOMPARE(letter, all[name]);
                all[name] = letter;
            }
        std::set<QString> used;
        for (const auto& [name, letter] : all)
            QVERIFY2(used.insert(letter).second, qPrintable(name + QLatin1Char(' ') + letter));
    }

 private slots:
    void init() {
        window_ = std::make_unique<MainWindow>(settings_);
        window_->resize(1300, 800);
        window_->show();
        window_->openPath(QString::fromStdString(test::golden_path("models/gguf/llama-gqa-Q8_0.gguf")), false);
        QTRY_VERIFY_WITH_TIMEOUT(window_->controller().model(), 30000);
        Experiment e;
        e.prompt = "Once upon a time";
        e.n_tokens = e.min_tokens = 12;
        e.lanes = {setup("fp16"), setup("quanto:4,group=16,residual=4"), setup("quanto:2,group=16,residual=4"),
                   setup("hqq:2,group=16,residual=4")};
        window_->controller().setExperiment(e);
        runToTheEnd();
    }
    void cleanup() { window_.reset(); }

    void movingSwapsNothing() {
        const Letters before = inPanel();
        checkAllSayTheSame();
        window_->edits().moveLane(3, -2);
        QCOMPARE(inPanel(), before);
        checkAllSayTheSame();
        window_->edits().moveLane(0, 2);  // the reference, too
        QCOMPARE(inPanel(), before);
        runToTheEnd();
        QCOMPARE(inPanes(), before);
        checkAllSayTheSame();
    }

    void removingAndAddingSwapsNothing() {
        const Letters before = inPanel();
        window_->edits().removeLane(1);
        for (const auto& [name, letter] : inPanel())
            QCOMPARE(letter, before.at(name));
        window_->edits().addLane(setup("fp8").spec);
        checkAllSayTheSame();
        runToTheEnd();
        checkAllSayTheSame();
        window_->edits().stack().undo();
        window_->edits().stack().undo();
        QCOMPARE(inPanel(), before);
        checkAllSayTheSame();
    }

    void aCopyHasALetterOfItsOwn() {
        const Letters before = inPanel();
        window_->edits().duplicateLane(1);
        window_->edits().replaceLane(2, setup("hqq:3,group=16,residual=4").spec);
        for (const auto& [name, letter] : before)
            QCOMPARE(inPanel().at(name), letter);
        checkAllSayTheSame();
        runToTheEnd();
        checkAllSayTheSame();
    }

    void theMenuOfAPaneIsItsOwnLanes() {
        window_->edits().moveLane(3, -2);  // hqq:2 is lane 1 now, and lane 3 in the run
        QMenu menu;
        emit window_->lanes().laneMenuWanted(3, &menu);
        for (QAction* action : menu.actions())
            if (action->isCheckable()) action->trigger();
        QVERIFY(!window_->view().laneShown(3));
        QVERIFY(window_->view().laneShown(1));
        QMenu again;
        emit window_->lanes().laneMenuWanted(3, &again);
        again.actions()[1]->trigger();  // duplicate
        QVERIFY(experiment().lanes[1].spec == experiment().lanes[2].spec);
    }

    void aSessionKeepsThem() {
        window_->edits().moveLane(3, -2);
        runToTheEnd();
        const Letters before = inPanel();
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("marks.kvasir"));
        QVERIFY(save_session(window_->controller().session(), path.toStdString()).ok());
        MainWindow other(settings_);
        QSignalSpy opened(&other, &MainWindow::sessionOpened);
        other.openPath(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
        for (size_t i = 0; i < before.size(); ++i) {
            const Experiment& e = other.controller().experiment();
            QCOMPARE(Theme::instance().laneOf(e, int(i)).letter, before.at(nameOf(e.lanes[i])));
        }
    }

    void thereAreEightLanesAtMost() {
        for (int i = 0; i < 6; ++i)
            window_->edits().addLane(setup("fp8").spec);
        QCOMPARE(experiment().lanes.size(), size_t(8));
        QVERIFY(!window_->actions()["add-lane"]->isEnabled());
        window_->edits().duplicateLane(1);
        QCOMPARE(experiment().lanes.size(), size_t(8));
        window_->edits().removeLane(1);
        QVERIFY(window_->actions()["add-lane"]->isEnabled());
    }

    /// A session may hold more.
    void noTwoLooksAreTheSame() {
        std::set<QString> letters, looks;
        for (int mark = 0; mark < 32; ++mark) {
            const LaneLook look = Theme::instance().lane(mark, false);
            QVERIFY(look.letter != QStringLiteral("R"));
            QVERIFY(letters.insert(look.letter).second);
            const QString drawn =
                look.colour.name() + QString::number(int(look.marker)) + QString::number(int(look.hollow));
            QVERIFY2(looks.insert(drawn).second, qPrintable(look.letter));
        }
    }
};

QTEST_MAIN(TestLaneMarks)
#include "tst_lane_marks.moc"
