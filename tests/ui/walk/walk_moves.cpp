// SPDX-License-Identifier: GPL-3.0-or-later
// Moves on the experiment, runs and files.
#include <QApplication>
#include <QDockWidget>
#include <QMimeData>
#include <QtGui/QDropEvent>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/plot_dock.h"
#include "ui/walk/walk.h"

namespace kvasir::test {

namespace {

using ui::MainWindow;

int anyLane(Walk& walk) {
    return walk.dice().below(int(walk.window().controller().experiment().lanes.size()));
}

void run(Walk& walk) {
    walk.boundExperiment();
    walk.window().actions()["run"]->trigger();
    if (walk.dice().oneIn(2)) walk.waitForRun();
}
void holdOrGoOn(Walk& walk) {
    const char* const ids[] = {"pause", "step", "step", "stop"};
    const char* id = walk.dice().of(ids);
    walk.say(QStringLiteral("  %1").arg(QLatin1String(id)));
    walk.boundExperiment();
    walk.window().actions()[id]->trigger();
}
void addLane(Walk& walk) {
    if (walk.window().controller().experiment().lanes.size() < 9) walk.window().edits().addLane(anyScheme(walk.dice()));
}
void removeLane(Walk& walk) {
    walk.window().edits().removeLane(anyLane(walk));
}
void duplicateLane(Walk& walk) {
    if (walk.window().controller().experiment().lanes.size() < 9) walk.window().edits().duplicateLane(anyLane(walk));
}
void moveLane(Walk& walk) {
    walk.window().edits().moveLane(anyLane(walk), walk.dice().below(7) - 3);
}
void toggleLane(Walk& walk) {
    walk.window().edits().enableLane(anyLane(walk), walk.dice().oneIn(2));
}
void replaceLane(Walk& walk) {
    walk.window().edits().replaceLane(anyLane(walk), anyScheme(walk.dice()));
}
void showOrHideLane(Walk& walk) {
    const int lane = anyLane(walk);
    walk.window().view().setLaneShown(lane, !walk.window().view().laneShown(lane) || walk.dice().oneIn(4));
}
void changeExperiment(Walk& walk) {
    Experiment e = walk.window().controller().experiment();
    Dice& dice = walk.dice();
    switch (dice.below(7)) {
        case 0:
            e.n_tokens = 1 + dice.below(dice.oneIn(2) ? 600 : 12);
            break;
        case 1:
            e.mode = e.mode == Mode::teacher_forced && !e.score_text ? Mode::free_running : Mode::teacher_forced;
            break;
        case 2:
            e.prompt = anyText(dice).toStdString();
            break;
        case 3:
            e.score_text = !e.score_text;
            e.prefill = 1 + dice.below(20);
            if (e.score_text) e.mode = Mode::teacher_forced;
            break;
        case 4:
            e.noise_floor = !e.noise_floor;
            break;
        case 5:
            e.min_tokens = dice.oneIn(2) ? e.n_tokens : 0;
            break;
        default:
            e.sampling.temperature = dice.oneIn(2) ? 0.0f : 0.9f;
    }
    walk.window().edits().apply(QStringLiteral("walk"), e);
}
void undoOrRedo(Walk& walk) {
    for (int i = walk.dice().below(5); i >= 0; --i)
        walk.window().actions()[walk.dice().oneIn(3) ? "redo" : "undo"]->trigger();
}

void open(Walk& walk, const QString& path) {
    walk.say(QStringLiteral("  %1").arg(path));
    walk.window().openPath(path, walk.dice().oneIn(3));
    if (!walk.dice().oneIn(4)) walk.wait(60);
}
void openSession(Walk& walk) {
    open(walk, walk.files().session(walk.dice()));
}
void openHostileSession(Walk& walk) {
    open(walk, walk.files().hostileSession(walk.dice()));
}
void openAnything(Walk& walk) {
    open(walk, walk.files().any(walk.dice()));
}
void drop(Walk& walk) {
    QMimeData mime;
    QList<QUrl> urls;
    for (int i = walk.dice().below(3); i >= 0; --i)
        urls << (walk.dice().oneIn(6) ? QUrl(QStringLiteral("https://example.org/a.gguf"))
                                      : QUrl::fromLocalFile(walk.files().any(walk.dice())));
    walk.say(QStringLiteral("  %1").arg(urls[0].toString()));
    mime.setUrls(urls);
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&walk.window(), &enter);
    QDropEvent event(QPointF(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&walk.window(), &event);
    walk.wait(30);
}
void save(Walk& walk) {
    walk.window().saveSessionTo(walk.files().target(walk.dice(), QStringLiteral(".kvasir")));
}
void exportSomething(Walk& walk) {
    if (walk.dice().oneIn(4)) return walk.window().exportAllTo(walk.files().folderTarget(walk.dice()));
    ui::PlotView* plot = walk.dice().of(walk.window().plotDocks())->plot();
    QString error;
    switch (walk.dice().below(4)) {
        case 0:
            plot->savePng(walk.files().target(walk.dice(), QStringLiteral(".png")), 1, &error);
            break;
        case 1:
            plot->saveSvg(walk.files().target(walk.dice(), QStringLiteral(".svg")), &error);
            break;
        case 2:
            plot->savePdf(walk.files().target(walk.dice(), QStringLiteral(".pdf")), &error);
            break;
        default:
            plot->csv();
    }
}
void moveDock(Walk& walk) {
    const auto docks = walk.window().findChildren<QDockWidget*>();
    QDockWidget* dock = walk.dice().of(docks);
    walk.say(QStringLiteral("  %1").arg(dock->objectName()));
    const Qt::DockWidgetArea areas[] = {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea, Qt::TopDockWidgetArea,
                                        Qt::BottomDockWidgetArea};
    switch (walk.dice().below(5)) {
        case 0:
            dock->setVisible(!dock->isVisible());
            break;
        case 1:
            dock->setFloating(!dock->isFloating());
            break;
        case 2:
            walk.window().addDockWidget(walk.dice().of(areas), dock);
            break;
        case 3:
            if (QDockWidget* other = walk.dice().of(docks); other != dock) walk.window().tabifyDockWidget(other, dock);
            break;
        default:
            dock->raise();
    }
}
void openTable(Walk& walk) {
    walk.dice().of(walk.window().plotDocks())->showTable();
}
void closeOthers(Walk&) {
    for (QWidget* top : QApplication::topLevelWidgets())
        if (top->isVisible() && !qobject_cast<MainWindow*>(top) && !qobject_cast<QDockWidget*>(top)) top->close();
}
void closeAndOpen(Walk& walk) {
    walk.openWindow();
}
void wait(Walk& walk) {
    walk.wait(walk.dice().below(150));
}

/// What the first users did, one after the other: each of these once ended the program.
void runAddLaneRun(Walk& walk) {
    run(walk);
    addLane(walk);
    run(walk);
}
void runTwice(Walk& walk) {
    run(walk);
    walk.waitForRun();
    run(walk);
    walk.waitForRun();
}
void openSessionAndRun(Walk& walk) {
    openSession(walk);
    walk.wait(50);
    run(walk);
}
void pointHideShowPoint(Walk& walk) {
    ui::ViewState& view = walk.window().view();
    const int other = anyLane(walk), step = walk.dice().below(12);
    const auto press = [&] {
        for (ui::LanePane* pane : walk.window().lanes().panes()) {
            const QRect at = pane->lane() == other ? QRect() : pane->body()->stepRect(step);
            if (at.isNull() || !pane->body()->rect().contains(at.center())) continue;
            QMouseEvent event(QEvent::MouseButtonPress, at.center(), pane->body()->mapToGlobal(at.center()),
                              Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(pane->body(), &event);
            return;
        }
    };
    press();
    view.setLaneShown(other, !view.laneShown(other));
    walk.wait(10);
    view.setLaneShown(other, !view.laneShown(other));
    walk.wait(10);
    press();
}

}  // namespace

const std::vector<Move>& experimentMoves() {
    static const std::vector<Move> moves = {
        {"run", 8, run},
        {"hold or go on", 7, holdOrGoOn},
        {"add a lane", 5, addLane},
        {"remove a lane", 4, removeLane},
        {"duplicate a lane", 3, duplicateLane},
        {"move a lane", 3, moveLane},
        {"use a lane or not", 4, toggleLane},
        {"another scheme", 4, replaceLane},
        {"show or hide a lane", 5, showOrHideLane},
        {"change the experiment", 8, changeExperiment},
        {"undo or redo", 3, undoOrRedo},
        {"open a session", 4, openSession},
        {"open a damaged session", 4, openHostileSession},
        {"open anything", 3, openAnything},
        {"drop files", 3, drop},
        {"save", 2, save},
        {"export", 4, exportSomething},
        {"move a dock", 4, moveDock},
        {"open a table", 2, openTable},
        {"close other windows", 2, closeOthers},
        {"close and start again", 1, closeAndOpen},
        {"wait", 5, wait},
        {"run, add a lane, run", 3, runAddLaneRun},
        {"run twice", 3, runTwice},
        {"open a session and run", 3, openSessionAndRun},
        {"point, hide, show, point", 4, pointHideShowPoint},
    };
    return moves;
}

}  // namespace kvasir::test
