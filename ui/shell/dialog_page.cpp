// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialog_page.h"

#include <QDialog>
#include <QEvent>
#include <QScreen>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {
constexpr QSize kFrame{24, 56};  // what a window manager puts around a window, at most
}

void resizeOnScreen(QDialog& dialog, QSize wanted) {
    dialog.resize(wanted.boundedTo(dialog.screen()->availableSize() - kFrame));
}

DialogPage::DialogPage(QWidget* parent) : SteadyScroll(parent) {
    auto* page = new QWidget;
    column_ = new QVBoxLayout(page);
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(10);
    setWidget(page);
    page->installEventFilter(this);
}

QSize DialogPage::sizeHint() const {
    return widget()->sizeHint();
}

QSize DialogPage::minimumSizeHint() const {
    return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(),
            std::min(widget()->minimumSizeHint().height(), Theme::instance().px(120))};
}

bool DialogPage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::LayoutRequest && watched == widget() && isVisible()) {
        updateGeometry();
        const int needed = widget()->hasHeightForWidth() ? widget()->heightForWidth(viewport()->width())
                                                         : widget()->sizeHint().height();
        const int missing = needed - viewport()->height();
        if (auto* dialog = qobject_cast<QDialog*>(window()); dialog && missing > 0)
            resizeOnScreen(*dialog, dialog->size() + QSize(0, missing));
    }
    return SteadyScroll::eventFilter(watched, event);
}

}  // namespace kvasir::ui
