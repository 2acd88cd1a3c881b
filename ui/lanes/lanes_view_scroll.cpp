// SPDX-License-Identifier: GPL-3.0-or-later
// Scrolling: all lanes by token, so that the same place stands at the top of each; while they follow, each shows its
// own end, because a free-running lane's text has a length of its own. No lane scrolls past its text.
#include <QScopedValueRollback>
#include <QScrollBar>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"

namespace kvasir::ui {

void LanesView::connectScrolling() {
    connect(bar_, &QScrollBar::valueChanged, this, [this](int y) {
        if (!adjusting_) scrolledTo(y);
        hidePopover();
    });
}

/// The lane that the bar measures.
LanePane* LanesView::longest() const {
    LanePane* longest = nullptr;
    for (LanePane* pane : panesInSight())
        if (!longest || pane->body()->endScroll() > longest->body()->endScroll()) longest = pane;
    return longest;
}

void LanesView::scrolledTo(int y) {
    LanePane* of_bar = longest();
    if (!of_bar) return;
    following_ = y >= bar_->maximum();
    place_ = of_bar->body()->placeAt(y);
    applyScroll();
}

/// A lane asks for a token of its own, which may stand elsewhere in the longest one.
void LanesView::scrollLaneTo(LanePane* pane, int y) {
    LanePane* of_bar = longest();
    following_ = false;
    place_ = pane->body()->placeAt(y);
    applyScroll();
    const QScopedValueRollback<bool> adjusting(adjusting_, true);
    if (of_bar) bar_->setValue(of_bar->body()->scrolled());
}

void LanesView::updateScroll() {
    LanePane* of_bar = longest();
    if (!of_bar || batch_) return;
    const LaneBody* body = of_bar->body();
    const QScopedValueRollback<bool> adjusting(adjusting_, true);
    bar_->setPageStep(body->visibleHeight());
    // whole lines, so that none is cut under the line above the text
    bar_->setSingleStep(body->lineHeight());
    bar_->setRange(0, body->endScroll());
    bar_->setValue(following_ ? bar_->maximum() : body->scrollForPlace(place_));
    applyScroll();
}

void LanesView::applyScroll() {
    for (LanePane* pane : panesInSight()) {
        LaneBody* body = pane->body();
        body->setScroll(following_ ? body->endScroll() : body->scrollForPlace(place_));
    }
}

void LanesView::setFollowing(bool follow) {
    following_ = follow;
    updateScroll();
}

}  // namespace kvasir::ui
