// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the window that make it fit: menus, toolbar, docks, rail, messages, status bar, dialogs; and the words
// it says. No model is needed.
#include <QtTest/qtestspontaneevent.h>
#include <QActionGroup>
#include <QApplication>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QStatusBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>
#include <QtGui/QDropEvent>
#include <memory>

#include "support/layout_check.h"
#include "support/synthetic_run.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/experiment_dock.h"
#include "ui/shell/experiment_panel.h"
#include "ui/shell/icons.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/prompt_dialog.h"
#include "ui/shell/prompts.h"
#include "ui/shell/run_status.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/scheme_dialog.h"
#include "ui/shell/typeset.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestSmallScreen : public QObject {
    Q_OBJECT
    Settings settings_{false};
    std::unique_ptr<MainWindow> window_;

    static void settle() {
        for (int i = 0; i < 5; ++i) {
            QCoreApplication::sendPostedEvents();
            QCoreApplication::processEvents();
        }
    }
    void resizeTo(int width, int height) {
        window_->resize(width, height);
        settle();
    }
    PlotDock* plot(const char* id) const {
        for (PlotDock* dock : window_->plotDocks())
            if (dock->entry().id == QLatin1String(id)) return dock;
        return nullptr;
    }
    ExperimentDock* experiment() const { return window_->findChild<ExperimentDock*>(); }
    QString bannerTitle() const { return window_->findChild<OneLineLabel*>(QStringLiteral("banner-title"))->text(); }

 private slots:
    void init() {
        window_ = std::make_unique<MainWindow>(settings_);
        window_->resize(1400, 900);
        window_->show();
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
        settle();
    }
    void cleanup() {
        window_.reset();
        settings_.reset();
    }

    void menuBarHoldsEveryActionOfTheTable() {
        const QList<QAction*> titles = window_->menuBar()->actions();
        QStringList names;
        for (const QAction* title : titles)
            names << plainText(title);
        QCOMPARE(names, (QStringList{"File", "Edit", "View", "Run", "Help"}));
        QVERIFY(window_->menuBar()->isVisible());
        for (const ActionRow& row : Actions::table()) {
            const qsizetype group = names.indexOf(QLatin1String(row.group));
            QVERIFY2(group >= 0, row.group);
            QVERIFY2(titles[group]->menu()->actions().contains(window_->actions()[row.id]), row.id);
        }
    }
    void exclusiveChoicesAreRadioMarks() {
        for (const char* id : {"teacher-forced", "free-running", "tint-kl", "tint-dp", "layout-explore",
                               "layout-present", "theme-auto", "theme-light", "theme-dark", "theme-contrast"}) {
            QAction* action = window_->actions()[id];
            QVERIFY2(action->actionGroup() && action->actionGroup()->isExclusive(), id);
            if (!action->isChecked() && action->isEnabled()) {
                action->trigger();
                settle();
                QVERIFY2(action->isChecked(), id);
                int n_checked = 0;
                for (const QAction* each : action->actionGroup()->actions())
                    n_checked += each->isChecked();
                QCOMPARE(n_checked, 1);
                action->trigger();  // once more leaves it chosen
                QVERIFY2(action->isChecked(), id);
            }
        }
        window_->setPresent(false);
        PromptDialog dialog(Experiment::first_start(), nullptr, nullptr);
        QCOMPARE(dialog.findChildren<QRadioButton*>().size(), 2);
    }
    void theToolbarNeverLosesAnAction() {
        auto* bar = window_->findChild<RunToolbar*>();
        bool overflowed = false;
        for (const double type : {0.8, 1.0, 1.5})
            for (const int width : {1920, 1300, 1024, 800}) {
                window_->setTypeScale(type);
                resizeTo(width, 700);
                look::Findings findings;
                look::checkToolBar(*window_, findings);
                for (const auto& f : findings)
                    QFAIL(qPrintable(QStringLiteral("%1 at %2 px, %3").arg(f.line()).arg(width).arg(type)));
                const auto* menu = bar->findChild<QMenu*>(QStringLiteral("toolbar-overflow"));
                overflowed = overflowed || !menu->isEmpty();
                QStringList shown;
                for (const QToolButton* button : bar->findChildren<QToolButton*>())
                    if (button->isVisible() && button->defaultAction()) shown << button->defaultAction()->objectName();
                for (const char* id : {"pause", "step", "stop"})
                    QVERIFY2(shown.contains(QLatin1String(id)), id);
                if (width == 1920 && type < 1.2) QVERIFY(shown.contains(QStringLiteral("commands")));
            }
        QVERIFY(overflowed);
        window_->setTypeScale(1);
    }

    void roomDecidesTheArrangement() {
        QVERIFY(arrangementFor({1920, 1080}, 1) == Arrangement::wide);
        QVERIFY(arrangementFor({1300, 700}, 1) == Arrangement::stacked);
        QVERIFY(arrangementFor({1024, 600}, 1) == Arrangement::tabs);
        QVERIFY(arrangementFor({1920, 1080}, 1.5) == Arrangement::stacked);  // type size counts as screen size
        QVERIFY(arrangementFor({1300, 700}, 1.25) == Arrangement::tabs);
        QVERIFY(!experimentFolds({1300, 700}, 1) && experimentFolds({1300, 700}, 1.1) &&
                experimentFolds({1024, 600}, 1));
    }
    void aHiddenLaneIsSaidInThePanelWithAWayBack() {
        window_->controller().adoptSession(kvasir::test::synthetic_session(4));
        settle();
        const auto mark = [this] { return window_->findChild<QToolButton*>(QStringLiteral("lane-hidden-2")); };
        QVERIFY(!mark());
        window_->view().setLaneShown(2, false);
        settle();
        QVERIFY(mark());
        QCOMPARE(mark()->text(), QStringLiteral("hidden"));
        mark()->click();
        settle();
        QVERIFY(window_->view().laneShown(2));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(!mark());
    }
    void theTextDialogLeavesNoLabelBehind() {
        PromptDialog dialog(Experiment::first_start(), nullptr, nullptr);
        dialog.show();
        for (QRadioButton* mode : dialog.findChildren<QRadioButton*>()) {
            mode->click();
            settle();
            auto* form = dialog.findChild<QFormLayout*>();
            for (int row = 0; row < form->rowCount(); ++row) {
                const QLayoutItem *label = form->itemAt(row, QFormLayout::LabelRole),
                                  *field = form->itemAt(row, QFormLayout::FieldRole);
                if (label && field && field->widget())
                    QCOMPARE(label->widget()->isVisible(), field->widget()->isVisible());
            }
        }
        for (QSpinBox* box : dialog.findChildren<QSpinBox*>()) {
            box->setValue(1);
            QCOMPARE(box->suffix(), QStringLiteral(" token"));
            box->setValue(2);
            QCOMPARE(box->suffix(), QStringLiteral(" tokens"));
        }
    }
    void theWindowNeverGrowsPastItsScreen() {
        const QSize screen = window_->screen()->availableSize();
        const QSize before(std::min(1300, screen.width() - 20), std::min(706, screen.height() - 60));
        resizeTo(before.width(), before.height());
        QCOMPARE(window_->size(), before);
        for (int i = 0; i < 2; ++i) {  // all plots come back while the type is still large, or would
            window_->actions()["layout-present"]->trigger();
            settle();
            window_->actions()["layout-explore"]->trigger();
            settle();
            QCOMPARE(window_->size(), before);
        }
        for (const double type : {1.5, 2.0}) {
            window_->setTypeScale(type);
            settle();
            for (PlotDock* dock : window_->plotDocks())
                dock->show();
            settle();
            const QSize least = window_->minimumSize(), is = window_->frameGeometry().size();
            QVERIFY2(least.width() < screen.width() && least.height() < screen.height(),
                     qPrintable(QStringLiteral("%1 x %2").arg(least.width()).arg(least.height())));
            QVERIFY(is.width() <= screen.width() && is.height() <= screen.height());
        }
    }
    void aTallPlotTakesTheColumnAndGivesItBack() {
        resizeTo(1300, 720);
        window_->restoreDefaultLayout();
        settle();
        PlotDock *error = plot("error-per-token"), *memory = plot("memory"), *speed = plot("tokens-per-second"),
                 *spread = plot("distributions");
        QVERIFY(memory->isVisible() && speed->isVisible());
        const QRect before[] = {error->geometry(), memory->geometry(), speed->geometry(), window_->lanes().geometry()};
        spread->raise();
        settle();
        QVERIFY(!memory->isVisible() && !speed->isVisible());
        QVERIFY(spread->height() > 2 * before[0].height());
        QCOMPARE(window_->lanes().geometry(), before[3]);
        error->raise();
        settle();
        QVERIFY(memory->isVisible() && speed->isVisible());
        const QRect after[] = {error->geometry(), memory->geometry(), speed->geometry(), window_->lanes().geometry()};
        for (int i = 0; i < 4; ++i)
            QVERIFY2((after[i].topLeft() - before[i].topLeft()).manhattanLength() <= 4 &&
                         std::abs(after[i].height() - before[i].height()) <= 4,
                     qPrintable(QStringLiteral("%1: %2,%3 %4 -> %5,%6 %7")
                                    .arg(i)
                                    .arg(before[i].x())
                                    .arg(before[i].y())
                                    .arg(before[i].height())
                                    .arg(after[i].x())
                                    .arg(after[i].y())
                                    .arg(after[i].height())));
        // asking for a plot that gave way brings the column of three back
        spread->raise();
        settle();
        QVERIFY(!memory->isVisible());
        memory->show();
        settle();
        settle();
        QVERIFY(memory->isVisible() && speed->isVisible());
    }
    void theExperimentFoldsToARail() {
        resizeTo(1024, 600);
        auto* rail = window_->findChild<QWidget*>(QStringLiteral("experiment-rail"));
        auto* field = window_->findChild<ExperimentPanel*>()->findChild<QSpinBox*>();
        QVERIFY(experiment()->folded() && rail->isVisible() && rail->width() < 50);
        QVERIFY(field && !field->isVisible());
        const QRect lanes = window_->lanes().geometry();
        QTest::mouseClick(rail->findChildren<QToolButton*>()[3], Qt::LeftButton);
        QVERIFY(experiment()->panelIsOver() && field->isVisible());
        QCOMPARE(window_->lanes().geometry(), lanes);  // over them, not beside them
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(!experiment()->panelIsOver());
        QTest::mouseClick(rail->findChildren<QToolButton*>()[0], Qt::LeftButton);
        QVERIFY(experiment()->panelIsOver());
        QTest::mouseClick(window_->statusBar(), Qt::LeftButton);
        QVERIFY(!experiment()->panelIsOver());
        resizeTo(1400, 900);
        QVERIFY(!experiment()->folded() && field->isVisible() && !rail->isVisible());
        resizeTo(1024, 600);
        window_->findChild<QWidget*>(QStringLiteral("experiment-rail"));
        experiment()->showPanel(2);
        window_.reset();  // with the panel over the lanes: its views go before what they look at
    }

    void theWheelOverAFieldWithoutFocusScrollsThePanel() {
        resizeTo(1400, 620);
        auto* area = window_->findChild<ExperimentPanel*>();
        QSpinBox* field = nullptr;
        for (QSpinBox* each : experiment()->findChildren<QSpinBox*>())
            if (each->value() > 2 && each->isVisible()) field = each;
        QVERIFY(field && area && area->verticalScrollBar()->maximum() > 0);
        area->ensureWidgetVisible(field);
        area->verticalScrollBar()->setValue(
            std::min(area->verticalScrollBar()->value(), area->verticalScrollBar()->maximum() - 1));
        window_->lanes().focusFirstLane();
        const auto turn = [&](QWidget* over) {
            const QPointF middle = over->rect().center();
            QWheelEvent event(middle, over->mapToGlobal(middle), QPoint(), QPoint(0, -120), Qt::NoButton,
                              Qt::NoModifier, Qt::NoScrollPhase, false);
            QSpontaneKeyEvent::setSpontaneous(&event);  // only those of a person go on to the parents
            qApp->notify(over, &event);
        };
        const int value = field->value(), scroll = area->verticalScrollBar()->value();
        turn(field);
        QCOMPARE(field->value(), value);
        QVERIFY(area->verticalScrollBar()->value() > scroll);
        field->setFocus();
        turn(field);
        QCOMPARE(field->value(), value - 1);
        QVERIFY(field->focusPolicy() == Qt::StrongFocus);  // nor does a wheel give it the focus
    }

    void messagesQueueInOneLine() {
        MessageArea& area = window_->messages();
        const QString sentence = QStringLiteral(
            "A sentence that is far too long for one line of a window, because it "
            "says what happened, where, why and what can be done about it. ");
        area.show(QStringLiteral("a"), MessageBar::Kind::bad, sentence + sentence);
        area.show(QStringLiteral("b"), MessageBar::Kind::warn, QStringLiteral("second"));
        area.show(QStringLiteral("c"), MessageBar::Kind::info, QStringLiteral("third"));
        settle();
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("c"));
        QVERIFY(!area.message(QStringLiteral("a"))->isVisible() && !area.message(QStringLiteral("b"))->isVisible());
        QVERIFY(area.height() < 3 * QFontMetrics(area.font()).height());
        bool chosen = false;
        QTimer::singleShot(50, this, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu) return;
            chosen = menu->actions().size() == 2;
            menu->actions()[1]->trigger();
            menu->close();
        });
        QToolButton* others = nullptr;
        for (QToolButton* button : area.inSight()->findChildren<QToolButton*>())
            if (button->text() == QLatin1String("+2")) others = button;
        QVERIFY(others && others->isVisible());
        QTest::mouseClick(others, Qt::LeftButton);
        QVERIFY(chosen);
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("a"));
        settle();
        QVERIFY(area.height() < 3 * QFontMetrics(area.font()).height());  // one line until it is unfolded
        area.show(QStringLiteral("b"), MessageBar::Kind::warn, QStringLiteral("second"));  // says nothing new
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("a"));
        area.show(QStringLiteral("b"), MessageBar::Kind::warn, QStringLiteral("second, changed"));
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("b"));
        // a question stays in sight until it is answered: only an error comes before it
        area.show(QStringLiteral("q"), MessageBar::Kind::info, QStringLiteral("question"))->setQuestion();
        area.show(QStringLiteral("r"), MessageBar::Kind::info, QStringLiteral("another"))->setQuestion();
        area.show(QStringLiteral("d"), MessageBar::Kind::warn, QStringLiteral("warning"));
        area.show(QStringLiteral("d"), MessageBar::Kind::warn, QStringLiteral("warning, changed"));
        QVERIFY(area.inSight()->isQuestion());
        area.show(QStringLiteral("e"), MessageBar::Kind::bad, QStringLiteral("error"));
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("e"));
        area.clear(QStringLiteral("e"));
        QVERIFY(area.inSight()->isQuestion());
        for (const char* key : {"q", "r"})
            area.clear(QLatin1String(key));
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("d"));
        for (const char* key : {"d", "b", "a"})
            area.clear(QLatin1String(key));
        QCOMPARE(area.inSight()->objectName(), QStringLiteral("c"));
        area.clear(QStringLiteral("c"));
        QVERIFY(!area.isVisible());
    }

    void disabledButtonsLookDisabled() {
        auto* bar = window_->findChild<RunToolbar*>();
        auto* run = bar->findChild<QPushButton*>();
        QVERIFY(!run->isEnabled());  // there is no model
        const auto ground = [&] { return run->grab().toImage().pixelColor(5, run->height() / 2); };
        for (const bool filled : {true, false}) {
            bar->setRunFilled(filled);
            run->setEnabled(true);
            const QColor on = ground();
            run->setEnabled(false);
            if (filled) QVERIFY(on != ground());
        }
    }
    void disabledButtonsStaySoWhenTheToolbarMakesRoom() {
        auto* bar = window_->findChild<RunToolbar*>();
        for (const char* id : {"undo", "free-running", "stop"}) {
            QAction* action = window_->actions()[id];
            action->setEnabled(false);
            QToolButton* button = nullptr;
            for (QToolButton* b : bar->findChildren<QToolButton*>())
                if (b->defaultAction() == action) button = b;
            QVERIFY2(button && !button->isEnabled(), id);
            for (const int width : {700, 1600, 700, 1600}) {
                window_->resize(width, 800);
                settle();
                QVERIFY2(!button->isEnabled(), id);
            }
            action->setEnabled(true);
            QVERIFY2(button->isEnabled(), id);
        }
    }
    void theThemeButtonHasItsOwnIcon() {
        const auto drawn = [](const QAction* action) { return action->icon().pixmap(16).toImage(); };
        const QAction* button = window_->actions()["theme-next"];
        const QImage theme = drawn(button);
        QImage blank(theme.size(), theme.format());
        blank.fill(Qt::transparent);
        QVERIFY(!theme.isNull() && theme != blank);
        int n_others = 0;
        for (const QAction* action : window_->findChildren<QAction*>()) {
            if (action == button || action->icon().isNull()) continue;
            ++n_others;
            QVERIFY2(drawn(action) != theme, qPrintable(action->text()));
        }
        QVERIFY(n_others > 5);
    }

    void progressAndTimeLeftAreInTheStatusBar() {
        auto* progress = window_->findChild<QProgressBar*>(QStringLiteral("run-progress"));
        auto* floor = window_->findChild<QProgressBar*>(QStringLiteral("floor-progress"));
        EngineStatus s;
        s.state = EngineState::prompt;
        s.progress = 0.4;
        window_->status().show(s);
        QVERIFY(progress->isVisible() && !floor->isVisible());
        QCOMPARE(progress->value(), 400);
        QVERIFY(window_->status().text().contains(QStringLiteral("40 %")));
        s.state = EngineState::running;
        s.n_done = 64, s.n_planned = 128, s.elapsed_s = 10;
        window_->status().show(s);
        QVERIFY2(window_->status().text().contains(QStringLiteral("0:10 left")), qPrintable(window_->status().text()));
        s.floor_progress = 0.25;  // the run stands still meanwhile
        window_->status().show(s);
        QVERIFY(!progress->isVisible() && floor->isVisible());
        QCOMPARE(floor->value(), 250);
        QVERIFY(window_->status().text().contains(QStringLiteral("25 %")));
        s.state = EngineState::finished;
        s.floor_progress = -1;
        window_->status().show(s);
        QVERIFY(!progress->isVisible() && !floor->isVisible());
    }

    void readyNeedsAModel() {
        QVERIFY2(!bannerTitle().contains(QStringLiteral("Ready")), qPrintable(bannerTitle()));
        QVERIFY(!window_->status().text().contains(QStringLiteral("Ready")));
        window_->controller().adoptSession(kvasir::test::synthetic_session(4));
        window_->status().show();
        QVERIFY2(!window_->status().text().contains(QStringLiteral("Ready")), qPrintable(window_->status().text()));
    }
    void anErrorLeavesWithItsCause() {
        window_->controller().start();  // without a model
        QTRY_VERIFY(window_->messages().message(QStringLiteral("failure")));
        Experiment e = window_->controller().experiment();
        e.n_tokens += 1;
        window_->edits().apply(QStringLiteral("other"), e);
        QVERIFY(!window_->messages().message(QStringLiteral("failure")));
    }
    void aLaneThatIsSwitchedOffIsNoFailure() {
        Session session = kvasir::test::synthetic_session(4);
        auto info = std::make_shared<RunInfo>(session.run.info());
        info->experiment.lanes[3].enabled = session.experiment.lanes[3].enabled = false;
        info->lanes[3].why = "switched off";
        info->lanes[3].active.clear();
        info->lanes[2].why = "a real reason";
        RunModel run;
        run.begin(info, 30, 3, 64);
        session.run = run;
        window_->controller().adoptSession(session);
        QVERIFY(!window_->messages().message(QStringLiteral("lane-3")));
        QVERIFY(window_->messages().message(QStringLiteral("lane-2")));
    }
    void oneFileAtATimeOnlyWhenOneIsOpened() {
        QTemporaryDir folder;
        const auto made = [&](const char* name) {
            QFile file(folder.filePath(QLatin1String(name)));
            if (file.open(QIODevice::WriteOnly)) file.write("words");
            return QUrl::fromLocalFile(file.fileName());
        };
        const auto drop = [&](const QList<QUrl>& urls) {
            QMimeData mime;
            mime.setUrls(urls);
            QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(window_.get(), &enter);
            QDropEvent event(QPointF(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(window_.get(), &event);
            QTest::qWait(20);
        };
        drop({made("a.png"), made("b.txt")});
        QVERIFY(!window_->messages().message(QStringLiteral("drop")));
        QVERIFY(window_->messages().message(QStringLiteral("file")));  // why not
        drop({made("c.txt"), made("d.txt")});
        QVERIFY(window_->messages().message(QStringLiteral("drop")));
        QVERIFY(!window_->messages().message(QStringLiteral("file")));
    }
    void whyNoMoreLanesIsSaid() {
        auto* button = window_->findChild<ExperimentPanel*>()->findChild<QToolButton*>(QStringLiteral("add-lane"));
        QVERIFY(button && button->isEnabled());
        while (window_->edits().hasRoom())
            window_->edits().addLane(parse_cache_spec("quanto:4").value(), -1);
        QVERIFY(!button->isEnabled());
        QVERIFY2(button->toolTip().contains(QStringLiteral("at most 8 lanes")), qPrintable(button->toolTip()));
        window_->edits().removeLane(7);
        QVERIFY(button->isEnabled() && !button->toolTip().contains(QStringLiteral("at most")));
    }
    void aSearchWithoutAHitSaysSo() {
        CommandPalette palette(window_->actions(), window_.get());
        palette.findChild<QLineEdit*>()->setText(QStringLiteral("qqqzz"));
        auto* list = palette.findChild<QTreeWidget*>();
        QCOMPARE(list->topLevelItemCount(), 1);
        QCOMPARE(list->topLevelItem(0)->text(1), QStringLiteral("No command has these words"));
        QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
        QVERIFY(!palette.chosen());
    }
    void textsThatAreScoredAreTeacherForced() {
        Session s;
        s.experiment = window_->controller().experiment();
        s.experiment.score_text = true, s.experiment.mode = Mode::teacher_forced;
        window_->controller().adoptSession(s);
        settle();
        QVERIFY(!window_->actions()["free-running"]->isEnabled());
        s.experiment.score_text = false;
        window_->controller().adoptSession(s);
        QVERIFY(window_->actions()["free-running"]->isEnabled());
    }
    void theWordsOfACommandFindIt() {
        for (const BuiltInText& text : builtInTexts()) {
            CommandPalette palette(window_->actions(), window_.get());
            auto* field = palette.findChild<QLineEdit*>();
            field->setText(text.title.section(QStringLiteral(" ("), 0, 0));
            QTest::keyClick(field, Qt::Key_Return);
            QVERIFY(palette.chosen());
            QCOMPARE(plainText(palette.chosen()), text.title);
            palette.chosen()->trigger();
            QCOMPARE(builtInTextOf(window_->controller().experiment()), &text);
        }
    }

    void dialogsFitSmallScreens() {
        window_->setTypeScale(1.5);
        const Experiment e = Experiment::first_start();
        SchemeDialog scheme(e.lanes.back().spec, nullptr, Theme::instance().lane(0, false), false, nullptr);
        PromptDialog prompt(e, nullptr, nullptr);
        CommandPalette palette(window_->actions(), nullptr);
        ShortcutSheet keys(window_->actions(), nullptr);
        for (QDialog* dialog : std::initializer_list<QDialog*>{&scheme, &prompt, &palette, &keys}) {
            dialog->show();
            settle();
            const char* name = dialog->metaObject()->className();
            QVERIFY2(dialog->height() <= dialog->screen()->availableSize().height(), name);
            dialog->resize(1000, 550);  // 1024 x 600 with a frame
            settle();
            QVERIFY2(dialog->size() == QSize(1000, 550), name);
            look::Findings findings;
            look::checkTexts(*dialog, findings);
            look::checkWidgets(*dialog, findings);
            for (const auto& f : findings)
                qWarning("%s: %s", name, qPrintable(f.line()));
            QVERIFY2(findings.isEmpty(), name);
        }
        window_->setTypeScale(1);
    }
};

QTEST_MAIN(TestSmallScreen)
#include "tst_small_screen.moc"
