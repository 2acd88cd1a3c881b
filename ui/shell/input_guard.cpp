// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/input_guard.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>

namespace kvasir::ui {

namespace {

/// The spin box or combo box that a wheel over `watched` would turn.
QWidget* valueField(QObject* watched) {
    for (QWidget* w = qobject_cast<QWidget*>(watched); w && !w->isWindow(); w = w->parentWidget()) {
        if (qobject_cast<QAbstractItemView*>(w)) return nullptr;  // the open list of a combo box
        if (qobject_cast<QAbstractSpinBox*>(w) || qobject_cast<QComboBox*>(w)) return w;
    }
    return nullptr;
}

/// Space presses the button in focus, letters search the list in focus.
bool usesItself(const QObject* watched, const QKeyEvent& key) {
    if (key.modifiers() != Qt::NoModifier) return false;
    const bool button = qobject_cast<const QAbstractButton*>(watched),
               list = qobject_cast<const QComboBox*>(watched) || qobject_cast<const QAbstractItemView*>(watched);
    return (key.key() == Qt::Key_Space && (button || list)) ||
           (list && !key.text().isEmpty() && key.text()[0].isPrint());
}

}  // namespace

InputGuard::InputGuard(QObject* parent) : QObject(parent) {
    qApp->installEventFilter(this);
}

InputGuard::~InputGuard() {
    if (qApp) qApp->removeEventFilter(this);
}

bool InputGuard::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride && watched->isWidgetType()) {
        if (!usesItself(watched, *static_cast<QKeyEvent*>(event))) return false;
        event->accept();
        return true;
    }
    if (event->type() == QEvent::Wheel) {
        const QWidget* field = valueField(watched);
        if (!field || field->hasFocus()) return false;
        event->ignore();  // it goes on to the panel around the field
        return true;
    }
    // A wheel must not give the focus that lets it change the value.
    if (event->type() == QEvent::Polish)
        if (auto* widget = qobject_cast<QWidget*>(watched);
            widget && widget->focusPolicy() == Qt::WheelFocus && valueField(widget) == widget)
            widget->setFocusPolicy(Qt::StrongFocus);
    return false;
}

}  // namespace kvasir::ui
