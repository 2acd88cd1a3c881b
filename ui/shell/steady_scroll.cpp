// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/steady_scroll.h"

#include <QEvent>
#include <QLayout>
#include <QScrollBar>

namespace kvasir::ui {

SteadyScroll::SteadyScroll(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

void SteadyScroll::decide() {
    const QLayout* content = widget() ? widget()->layout() : nullptr;
    if (!content) return;
    const int beside = width() - verticalScrollBar()->sizeHint().width();
    const int needed =
        content->hasHeightForWidth() ? content->minimumHeightForWidth(beside) : content->minimumSize().height();
    setVerticalScrollBarPolicy(needed > height() ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
}

bool SteadyScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) decide();
    return QScrollArea::eventFilter(watched, event);
}

void SteadyScroll::resizeEvent(QResizeEvent* event) {
    decide();
    QScrollArea::resizeEvent(event);
}

}  // namespace kvasir::ui
