// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/steady_scroll.h"

#include <QEvent>
#include <QLayout>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <algorithm>

namespace kvasir::ui {

SteadyScroll::SteadyScroll(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

/// The content is as wide as its view, and as high or as high as it must be: a resizable QScrollArea would make it as
/// high as it likes, and hide its end where there is no bar.
void SteadyScroll::decide() {
    const QLayout* content = widget() ? widget()->layout() : nullptr;
    if (!content || deciding_) return;
    const QScopedValueRollback<bool> deciding(deciding_, true);
    const auto needed = [content](int width) {
        return content->hasHeightForWidth() ? content->minimumHeightForWidth(width) : content->minimumSize().height();
    };
    const int beside = width() - verticalScrollBar()->sizeHint().width();
    setVerticalScrollBarPolicy(needed(beside) > height() ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
    const QSize view = viewport()->size();
    widget()->resize(view.width(), std::max(view.height(), needed(view.width())));
}

bool SteadyScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) decide();
    return QScrollArea::eventFilter(watched, event);
}

void SteadyScroll::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    decide();
}

}  // namespace kvasir::ui
