// SPDX-License-Identifier: GPL-3.0-or-later
// Moves of mouse and keyboard, and of what is around the window: its size, type and theme.
#include <QApplication>
#include <QFileDialog>
#include <QTest>
#include <QWheelEvent>
#include <QWindow>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/walk/walk.h"

namespace kvasir::test {

namespace {

QString nameOf(const QWidget& widget) {
    return QStringLiteral("%1 \"%2\"").arg(QLatin1String(widget.metaObject()->className()), widget.objectName());
}

/// A widget that can be seen, of `root`; nullptr when there is none.
QWidget* anyWidget(QWidget& root, Dice& dice) {
    std::vector<QWidget*> seen;
    for (QWidget* w : root.findChildren<QWidget*>())
        if (w->isVisible() && !w->visibleRegion().isEmpty() && w->window() == root.window()) seen.push_back(w);
    return seen.empty() ? nullptr : dice.of(seen);
}

QWidget* anyWindow(Walk& walk) {
    QList<QWidget*> windows;
    for (QWidget* top : QApplication::topLevelWidgets())
        if (top->isVisible() && !qobject_cast<QFileDialog*>(top) && top->windowHandle()) windows << top;
    return windows.isEmpty() || !walk.dice().oneIn(5) ? &walk.window() : walk.dice().of(windows);
}

/// Where it can be seen: in a small window a widget may reach beyond the edge.
QPoint anyPoint(const QWidget& widget, Dice& dice) {
    const QRect seen = widget.visibleRegion().boundingRect();
    return seen.topLeft() + QPoint(dice.below(seen.width()), dice.below(seen.height()));
}

Qt::KeyboardModifiers anyModifiers(Dice& dice) {
    const Qt::KeyboardModifiers all[] = {Qt::NoModifier,
                                         Qt::NoModifier,
                                         Qt::NoModifier,
                                         Qt::ControlModifier,
                                         Qt::ShiftModifier,
                                         Qt::AltModifier,
                                         Qt::ControlModifier | Qt::ShiftModifier};
    return dice.of(all);
}

// Through the window's handle: events go where a real mouse's would, and an open menu or dialog takes them.
void click(QWidget& widget, Dice& dice) {
    QWindow* handle = widget.window()->windowHandle();
    if (!handle) return;
    const Qt::MouseButton buttons[] = {Qt::LeftButton, Qt::LeftButton,  Qt::LeftButton,
                                       Qt::LeftButton, Qt::RightButton, Qt::MiddleButton};
    const Qt::MouseButton button = dice.of(buttons);
    const Qt::KeyboardModifiers modifiers = dice.oneIn(6) ? anyModifiers(dice) : Qt::NoModifier;
    const QPoint at = widget.mapTo(widget.window(), anyPoint(widget, dice));
    if (dice.oneIn(6))
        QTest::mouseDClick(handle, button, modifiers, at);
    else
        QTest::mouseClick(handle, button, modifiers, at);
}

void turnWheel(QWidget& widget, Dice& dice) {
    const QPoint at = anyPoint(widget, dice);
    const int turns[] = {120, -120, 15, -15, 1200, -1200};
    QWheelEvent event(at, widget.mapToGlobal(at), {}, QPoint(0, dice.of(turns)), Qt::NoButton, anyModifiers(dice),
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
}

void pressKey(QWidget& window, Dice& dice) {
    const Qt::Key keys[] = {
        Qt::Key_Left,   Qt::Key_Right,    Qt::Key_Up,        Qt::Key_Down,    Qt::Key_Home,   Qt::Key_End,
        Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Tab,       Qt::Key_Backtab, Qt::Key_Escape, Qt::Key_Return,
        Qt::Key_Space,  Qt::Key_Delete,   Qt::Key_Backspace, Qt::Key_F1,      Qt::Key_F2,     Qt::Key_F5,
        Qt::Key_F6,     Qt::Key_F10,      Qt::Key_Plus,      Qt::Key_Minus,   Qt::Key_0,      Qt::Key_1,
        Qt::Key_2,      Qt::Key_9,        Qt::Key_A,         Qt::Key_D,       Qt::Key_E,      Qt::Key_F,
        Qt::Key_K,      Qt::Key_L,        Qt::Key_M,         Qt::Key_N,       Qt::Key_O,      Qt::Key_P,
        Qt::Key_S,      Qt::Key_T,        Qt::Key_Y,         Qt::Key_Z,       Qt::Key_Period, Qt::Key_Menu};
    if (QWindow* handle = window.windowHandle()) QTest::keyClick(handle, dice.of(keys), anyModifiers(dice));
}

void press(Walk& walk) {
    QWidget* at = anyWindow(walk);
    for (int i = walk.dice().below(4); i >= 0; --i)
        if (QPointer<QWidget> window = at; window && window->isVisible()) pressKey(*window, walk.dice());
}
void clickAnywhere(Walk& walk) {
    if (QWidget* widget = anyWidget(*anyWindow(walk), walk.dice())) {
        walk.say(QStringLiteral("  ") + nameOf(*widget));
        click(*widget, walk.dice());
    }
}
void turnTheWheel(Walk& walk) {
    if (QWidget* widget = anyWidget(*anyWindow(walk), walk.dice())) {
        walk.say(QStringLiteral("  ") + nameOf(*widget));
        turnWheel(*widget, walk.dice());
    }
}
void pointAnywhere(Walk& walk) {
    QWidget* widget = anyWidget(walk.window(), walk.dice());
    if (!widget) return;
    walk.say(QStringLiteral("  ") + nameOf(*widget));
    QTest::mouseMove(walk.window().windowHandle(), widget->mapTo(&walk.window(), anyPoint(*widget, walk.dice())));
    if (walk.dice().oneIn(3)) walk.wait(400);  // long enough for what appears under a resting mouse
}
void dragAnywhere(Walk& walk) {
    QPointer<QWidget> widget = anyWidget(walk.window(), walk.dice());
    if (!widget) return;
    walk.say(QStringLiteral("  ") + nameOf(*widget));
    QWindow* handle = walk.window().windowHandle();
    const QPoint from = widget->mapTo(&walk.window(), anyPoint(*widget, walk.dice()));
    const QRect inside = walk.window().rect();
    const QPoint wanted = walk.dice().oneIn(3)
                              ? anyPoint(walk.window(), walk.dice())
                              : from + QPoint(walk.dice().below(160) - 80, walk.dice().below(160) - 80);
    const QPoint to(std::clamp(wanted.x(), 0, inside.right()), std::clamp(wanted.y(), 0, inside.bottom()));
    QTest::mousePress(handle, Qt::LeftButton, {}, from);
    for (int i = 1; i <= 4; ++i)
        QTest::mouseMove(handle, from + (to - from) * i / 4);
    QTest::mouseRelease(handle, Qt::LeftButton, {}, to);
}
void clickAToken(Walk& walk) {
    const auto& panes = walk.window().lanes().panes();
    if (panes.empty()) return;
    ui::LaneBody* body = walk.dice().of(panes)->body();
    const QRect at = body->stepRect(walk.dice().below(40));
    if (at.isNull() || !body->rect().contains(at.center()) || !body->isVisible()) return;
    const QPoint point = body->mapTo(&walk.window(), at.center());
    QTest::mouseMove(walk.window().windowHandle(), point);
    QTest::mouseClick(walk.window().windowHandle(), Qt::LeftButton, {}, point);
}
void scrollALane(Walk& walk) {
    const auto& panes = walk.window().lanes().panes();
    if (!panes.empty()) turnWheel(*walk.dice().of(panes)->body(), walk.dice());
}
void triggerAction(Walk& walk) {
    QAction* action = walk.dice().of(walk.window().actions().all()).action;
    walk.say(QStringLiteral("  ") + ui::plainText(action));
    walk.boundExperiment();
    action->trigger();
}
void resize(Walk& walk) {
    const QSize sizes[] = {{1366, 768},  {1280, 720}, {1024, 600}, {1920, 1080},
                           {2560, 1440}, {800, 480},  {300, 200},  {1500, 900}};
    const QSize size =
        walk.dice().oneIn(4) ? QSize(1 + walk.dice().below(2000), 1 + walk.dice().below(1200)) : walk.dice().of(sizes);
    walk.say(QStringLiteral("  %1 x %2").arg(size.width()).arg(size.height()));
    walk.window().resize(size);
    if (walk.dice().oneIn(8)) walk.window().showMinimized(), walk.wait(20), walk.window().showNormal();
}
void changeType(Walk& walk) {
    const double scales[] = {0.8, 0.9, 1, 1, 1.1, 1.2, 1.5, 2};
    walk.window().setTypeScale(walk.dice().of(scales));
}
void changeTheme(Walk& walk) {
    const QString themes[] = {QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("contrast"),
                              QStringLiteral("auto")};
    walk.window().setTheme(walk.dice().of(themes));
}
void present(Walk& walk) {
    walk.window().setPresent(walk.dice().oneIn(2));
}

}  // namespace

void pokeSomewhere(QWidget& root, Dice& dice, const std::function<void(const QString&)>& say) {
    if (dice.oneIn(3)) return pressKey(root, dice);
    QWidget* widget = anyWidget(root, dice);
    if (!widget) return;
    say(nameOf(*widget));
    if (dice.oneIn(6))
        turnWheel(*widget, dice);
    else
        click(*widget, dice);
}

const std::vector<Move>& inputMoves() {
    static const std::vector<Move> moves = {
        {"press keys", 10, press},         {"click", 14, clickAnywhere},     {"turn the wheel", 5, turnTheWheel},
        {"point", 4, pointAnywhere},       {"drag", 4, dragAnywhere},        {"click a token", 5, clickAToken},
        {"scroll a lane", 4, scrollALane}, {"an action", 12, triggerAction}, {"resize", 4, resize},
        {"type size", 3, changeType},      {"theme", 2, changeTheme},        {"Present or Explore", 3, present},
    };
    return moves;
}

}  // namespace kvasir::test
