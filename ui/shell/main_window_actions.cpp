// SPDX-License-Identifier: GPL-3.0-or-later
// What the actions of the window do, and its menus.
#include <QActionGroup>
#include <QClipboard>
#include <QDockWidget>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>

#include "core/base/default_model.h"
#include "core/session/fair_comparison.h"
#include "core/session/lane_identity.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/experiment_dock.h"
#include "ui/shell/experiment_panel.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/lane_list.h"
#include "ui/shell/main_menu.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/prompt_dialog.h"
#include "ui/shell/prompts.h"
#include "ui/shell/recent_runs_menu.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/scheme_dialog.h"
#include "ui/shell/transcript.h"

namespace kvasir::ui {

void MainWindow::connectActions() {
    actions_.on("run", [this] {
        if (!mayReplaceResults()) return;
        files_.makeRoom();
        controller_.start();
    });
    actions_.on("pause", [this] {
        if (controller_.status().state == EngineState::paused)
            controller_.resume();
        else
            controller_.pause();
    });
    actions_.on("step", [this] {
        if (!controller_.underWay()) {  // the first step of a new run
            if (!mayReplaceResults()) return;
            files_.makeRoom();
        }
        controller_.step();
    });
    const auto stop = [this] {
        if (controller_.status().state == EngineState::loading)
            controller_.engine().cancel_load();
        else
            controller_.stop();
    };
    actions_.on("stop", stop);
    actions_.on("teacher-forced", [this] { chooseMode(Mode::teacher_forced); });
    actions_.on("free-running", [this] { chooseMode(Mode::free_running); });
    actions_.on("noise-floor", [this] {
        Experiment e = controller_.experiment();
        e.noise_floor = !e.noise_floor;
        edits_.apply(e.noise_floor ? tr("Measure the noise floor") : tr("Leave out the noise floor"), e);
    });
    actions_.on("make-equal", [this] { makeEqual(); });
    actions_.on("open", [this] { openWithDialog(); });
    actions_.on("save", [this] { save(false); });
    actions_.on("save-as", [this] { save(true); });
    actions_.on("last-session", [this] {
        if (mayReplaceResults()) files_.openLastSession();
    });
    actions_.on("export", [this] { exportWithDialog(nullptr); });
    actions_.on("export-all", [this] { exportAll(); });
    actions_.on("quit", [this] { close(); });
    actions_.on("edit-text", [this] { editText(); });
    actions_.on("add-lane", [this] { addLane(); });
    actions_.on("edit-lane", [this] {
        const int shown = lanes_->focusedLane();
        const int lane = shown >= 0 ? same_lane(controller_.shownExperiment(), shown, controller_.experiment())
                                    : panel_->lanes()->focusedLane();
        editLane(lane >= 0 ? lane : int(controller_.experiment().lanes.size()) - 1);
    });
    actions_.on("copy-transcript",
                [this] { QGuiApplication::clipboard()->setText(transcriptText(controller_.run())); });
    actions_.on("commands", [this] { askForCommand(); });
    actions_.on("shortcuts", [this] { ShortcutSheet(actions_, this).exec(); });
    actions_.on("about", [this] { about(); });

    QUndoStack& stack = edits_.stack();
    actions_.on("undo", [&stack] { stack.undo(); });
    actions_.on("redo", [&stack] { stack.redo(); });
    const auto updateUndo = [this, &stack] {
        actions_["undo"]->setEnabled(stack.canUndo());
        actions_["redo"]->setEnabled(stack.canRedo());
        actions_["undo"]->setToolTip(stack.canUndo() ? tr("Undo: %1 (Ctrl+Z)").arg(stack.undoText())
                                                     : tr("Nothing to undo"));
    };
    connect(&stack, &QUndoStack::indexChanged, this, updateUndo);
    updateUndo();

    for (PlotDock* dock : plots_)
        actions_.add(tr("View"), tr("Show %1").arg(dock->entry().title), dock->entry().icon, [dock] {
            dock->show();
            dock->raise();
            dock->plot()->setFocus();
        });
    actions_.add(tr("View"), tr("Show Experiment"), QString(), [this] { experiment_dock_->showPanel(); });
    for (const BuiltInText& text : builtInTexts()) {
        QAction* action = actions_.add(tr("Text"), text.title, QString(), [this, &text] {
            edits_.apply(tr("Use %1").arg(text.title), withText(controller_.experiment(), text));
        });
        action->setToolTip(text.what_it_shows);
    }
    connect(toolbar_->modelMenu(), &QMenu::aboutToShow, this, &MainWindow::fillModelMenu);
    connect(toolbar_->textMenu(), &QMenu::aboutToShow, this, &MainWindow::fillTextMenu);
}

void MainWindow::fillMenus() {
    fillMenuBar(*menuBar(), actions_);
    QMenu* view = menuOf(*menuBar(), "View");
    QMenu* docks = view->addMenu(tr("D&ocks"));
    docks->addAction(experiment_dock_->toggleViewAction());
    for (PlotDock* dock : plots_)
        docks->addAction(dock->toggleViewAction());
    QMenu* recent = new QMenu(tr("Open &recent"), this);
    menuOf(*menuBar(), "File")->insertMenu(actions_["save"], recent);
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        for (const QString& path : settings_.recentFiles())
            recent->addAction(QFileInfo(path).fileName(), this, [this, path] { openPath(path); })->setToolTip(path);
        if (recent->isEmpty()) recent->addAction(tr("None yet"))->setEnabled(false);
    });
    menuOf(*menuBar(), "File")
        ->insertMenu(actions_["save"], new RecentRunsMenu(
                                           files_, [this] { return mayReplaceResults(); }, this));
}

void MainWindow::fillModelMenu() {
    QMenu* menu = toolbar_->modelMenu();
    menu->clear();
    menu->setToolTipsVisible(true);
    menu->addAction(actions_["open"]);
    const QString standard = QString::fromStdString(default_model_path());
    if (QFileInfo::exists(standard))
        menu->addAction(icon(QStringLiteral("model")), tr("Default: %1").arg(QFileInfo(standard).fileName()), this,
                        [this, standard] { openModel(standard, true); });
    menu->addSeparator();
    for (const QString& path : settings_.recentFiles())
        if (path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive))
            menu->addAction(QFileInfo(path).fileName(), this, [this, path] { openPath(path); })->setToolTip(path);
}

void MainWindow::fillTextMenu() {
    QMenu* menu = toolbar_->textMenu();
    menu->clear();
    qDeleteAll(menu->findChildren<QActionGroup*>());
    menu->setToolTipsVisible(true);
    menu->addAction(actions_["edit-text"]);
    menu->addAction(actions_["open"]);
    menu->addSeparator();
    const BuiltInText* current = builtInTextOf(controller_.experiment());
    auto* choice = new QActionGroup(menu);
    bool scored = false;
    for (const BuiltInText& text : builtInTexts()) {
        if (text.score && !scored) menu->addSeparator();
        scored = text.score;
        QAction* action = menu->addAction(text.title, this, [this, &text] {
            edits_.apply(tr("Use %1").arg(text.title), withText(controller_.experiment(), text));
        });
        action->setToolTip(text.what_it_shows);
        action->setCheckable(true);
        action->setChecked(&text == current);
        choice->addAction(action);
    }
}

void MainWindow::fillLaneMenu(int lane, QMenu* menu) {
    const Experiment& e = controller_.experiment();
    if (lane < 0 || lane >= int(e.lanes.size())) {
        menu->addAction(tr("This lane is not in the experiment any more"))->setEnabled(false);
        return;
    }
    const bool reference = lane == e.reference;
    menu->addAction(icon(QStringLiteral("edit")), tr("&Edit scheme …"), this, [this, lane] { editLane(lane); });
    QAction* copy = menu->addAction(icon(QStringLiteral("copy")), tr("&Duplicate"), this,
                                    [this, lane] { edits_.duplicateLane(lane); });
    copy->setEnabled(edits_.hasRoom());
    if (!edits_.hasRoom()) copy->setText(tr("Duplicate (at most %1 lanes)").arg(kMostLanes));
    QAction* remove =
        menu->addAction(icon(QStringLiteral("remove")), tr("&Remove"), this, [this, lane] { edits_.removeLane(lane); });
    remove->setEnabled(!reference);
    if (reference) remove->setText(tr("Remove (the reference stays)"));
    menu->addSeparator();
    menu->addAction(tr("Move &up"), this, [this, lane] { edits_.moveLane(lane, -1); })->setEnabled(lane > 0);
    menu->addAction(tr("Move do&wn"), this, [this, lane] { edits_.moveLane(lane, 1); })
        ->setEnabled(lane + 1 < int(e.lanes.size()));
    menu->addSeparator();
    const int in_run = same_lane(e, lane, controller_.shownExperiment());
    QAction* shown = menu->addAction(tr("&Show in lanes and plots"), this,
                                     [this, in_run] { view_.setLaneShown(in_run, !view_.laneShown(in_run)); });
    shown->setCheckable(true);
    shown->setEnabled(in_run >= 0);
    shown->setChecked(in_run >= 0 && view_.laneShown(in_run));
}

void MainWindow::chooseMode(Mode mode) {
    Experiment e = controller_.experiment();
    e.mode = mode;
    edits_.apply(mode == Mode::teacher_forced ? tr("Teacher-forced") : tr("Free-running"), e);
    updateActions();  // a click on the checked button must not uncheck it
}

void MainWindow::makeEqual() {
    const Result<Experiment> equal = made_equal(controller_.experiment());
    if (!equal) {
        messages_->show(QStringLiteral("make-equal"), MessageBar::Kind::warn,
                        QString::fromStdString(equal.error().message()));
        return;
    }
    messages_->clear(QStringLiteral("make-equal"));
    edits_.apply(tr("Make the comparison equal"), *equal);
}

void MainWindow::editText() {
    PromptDialog dialog(controller_.experiment(), controller_.model(), this);
    if (dialog.exec() == QDialog::Accepted) edits_.apply(tr("Change text"), dialog.experiment());
}

void MainWindow::addLane() {
    const Experiment& e = controller_.experiment();
    const auto model = controller_.model();
    const CacheSpec start = e.lanes.empty() ? CacheSpec() : e.lanes.back().spec;
    Experiment with = e;
    with.lanes.push_back({start, true});
    with = controller_.withMarks(with);
    const int lane = int(e.lanes.size());
    SchemeDialog dialog(start, model ? &model->config() : nullptr, Theme::instance().laneOf(with, lane), true, this);
    if (dialog.exec() == QDialog::Accepted) edits_.addLane(dialog.spec(), lane_mark(with, lane));
}

void MainWindow::editLane(int lane) {
    const Experiment& e = controller_.experiment();
    if (lane < 0 || lane >= int(e.lanes.size())) return;
    const auto model = controller_.model();
    SchemeDialog dialog(e.lanes[size_t(lane)].spec, model ? &model->config() : nullptr,
                        Theme::instance().laneOf(e, lane), false, this);
    if (dialog.exec() == QDialog::Accepted) edits_.replaceLane(lane, dialog.spec());
}

void MainWindow::askForCommand() {
    CommandPalette palette(actions_, this);
    if (palette.exec() == QDialog::Accepted && palette.chosen()) palette.chosen()->trigger();
}

void MainWindow::about() {
    QMessageBox::about(this, tr("About Kvasir"),
                       tr("<b>Kvasir %1</b><br>Runs a language model through several quantized KV caches side by side "
                          "and shows what each costs.<br><br>"
                          "Free software under the GNU General Public License, version 3 or later, without warranty.")
                           .arg(QCoreApplication::applicationVersion()));
}

}  // namespace kvasir::ui
