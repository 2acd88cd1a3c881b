// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lanes_view.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/tint_legend.h"
#include "ui/lanes/token_popover.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

LanesView::LanesView(RunController& controller, ViewState& view, QWidget* parent)
    : QWidget(parent),
      controller_(controller),
      view_(view),
      ground_(new QWidget(this)),
      grid_(new QGridLayout(ground_)),
      bar_(new QScrollBar(Qt::Vertical, this)),
      legend_(new TintLegend(view, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3);
    auto* row = new QHBoxLayout;
    row->setSpacing(2);
    row->addWidget(ground_, 1);
    row->addWidget(bar_);
    column->addLayout(row, 1);
    column->addWidget(legend_);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(5);
    bar_->setAccessibleName(tr("Scroll all lanes"));
    hover_timer_.setSingleShot(true);
    hover_timer_.setInterval(350);
    connect(&hover_timer_, &QTimer::timeout, this, [this] {
        if (hover_pane_ && hover_step_ >= 0) showPopover(hover_pane_, hover_step_);
    });
    header_timer_.setSingleShot(true);
    header_timer_.setInterval(400);  // figures that a person reads need no more
    connect(&header_timer_, &QTimer::timeout, this, &LanesView::updateHeaders);
    connect(bar_, &QScrollBar::valueChanged, this, [this](int y) {
        if (!adjusting_) following_ = y >= bar_->maximum();
        applyScroll();
        hidePopover();
    });
    connect(&controller_, &RunController::runLeaves, this, [this] {
        hover_timer_.stop();
        hidePopover();
    });
    connect(&controller_, &RunController::runBegan, this, [this] {
        following_ = true;
        rebuild();
    });
    connect(&controller_, &RunController::recordsAppended, this, &LanesView::append);
    connect(&controller_, &RunController::statusChanged, this, [this] {
        endTexts();
        if (!header_timer_.isActive()) header_timer_.start();
    });
    connect(&controller_, &RunController::modelChanged, this, &LanesView::updateHeaders);
    connect(&controller_, &RunController::experimentChanged, this, [this] {
        if (controller_.run().empty()) rebuild();
    });
    connect(&view_, &ViewState::errorMeasureChanged, this, [this] {
        for (LanePane* pane : panes_)
            pane->body()->retint();
    });
    connect(&view_, &ViewState::lanesShownChanged, this, &LanesView::rebuild);
    connect(&view_, &ViewState::crosshairChanged, this, [this](int step) {
        if (hover_step_ != step) hidePopover();
    });
    rebuild();
}

LanePane* LanesView::makePane(int place) {
    auto* pane = new LanePane(controller_, view_, ground_);
    pane->setObjectName(QStringLiteral("lane-pane-%1").arg(place));
    pane->body()->setTextPoints(points_);
    pane->body()->setPromptShown(prompt_shown_);
    auto* menu = new QMenu(pane);
    pane->header()->menuButton()->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, pane, menu] {
        menu->clear();
        emit laneMenuWanted(pane->lane(), menu);
    });
    LaneBody* body = pane->body();
    connect(body, &LaneBody::wheelTurned, this, [this](int pixels) { bar_->setValue(bar_->value() + pixels); });
    connect(body, &LaneBody::scrollWanted, bar_, &QScrollBar::setValue);
    connect(body, &LaneBody::contentGrew, this, &LanesView::updateScroll);
    connect(body, &LaneBody::promptToggled, this, [this] { setPromptShown(!prompt_shown_); });
    connect(body, &LaneBody::details, this, [this, pane](int step) { showPopover(pane, step); });
    connect(body, &LaneBody::hovered, this, [this, pane](int step) {
        if (pane == hover_pane_ && step == hover_step_) return;
        hover_pane_ = pane;
        hover_step_ = step;
        if (step < 0)
            hover_timer_.stop();
        else
            hover_timer_.start();
        if (step >= 0) hidePopover();
    });
    return pane;
}

void LanesView::rebuild() {
    hidePopover();
    const Experiment& experiment = controller_.shownExperiment();
    std::vector<int> lanes;
    for (int i = 0; i < int(experiment.lanes.size()); ++i)
        if ((experiment.lanes[size_t(i)].enabled || i == experiment.reference) && view_.laneShown(i))
            lanes.push_back(i);
    rebuilding_ = true;  // the panes change one by one: what concerns all of them waits for the last
    while (panes_.size() > lanes.size()) {
        LanePane* pane = panes_.back();  // whose menu may have asked for this
        panes_.pop_back();
        pane->hide();
        pane->disconnect(this);
        pane->body()->disconnect(this);
        pane->setObjectName(QString());
        pane->deleteLater();
    }
    while (panes_.size() < lanes.size())
        panes_.push_back(makePane(int(panes_.size())));
    hover_pane_ = nullptr;
    lanes_ = lanes;
    columns_ = 0;
    arrange();
    for (size_t i = 0; i < panes_.size(); ++i)
        panes_[i]->setLane(lanes[i]);
    endTexts();
    rebuilding_ = false;
    legend_->setFreeRunning(experiment.mode == Mode::free_running);
    updateScroll();
}

void LanesView::arrange() {
    // as many columns as keep 32 characters per line
    const QFontMetricsF metrics(Theme::instance().font(points_));
    const double narrowest = metrics.averageCharWidth() * 32 + 2 * Theme::instance().px(13);
    int columns = std::clamp(int((ground_->width() + grid_->spacing()) / (narrowest + grid_->spacing())),
                             least_columns_, most_columns_);
    columns = std::min(columns, std::max(1, int(panes_.size())));
    if (panes_.size() == 4 && columns == 3) columns = 2;
    if (columns == columns_) return;
    columns_ = columns;
    for (LanePane* pane : panes_)
        grid_->removeWidget(pane);
    for (int i = 0; i < 8; ++i) {
        grid_->setColumnStretch(i, i < columns ? 1 : 0);
        grid_->setRowStretch(i, i * columns < int(panes_.size()) ? 1 : 0);
    }
    const bool compact = panes_.size() > 4 && width() < Theme::instance().px(900);
    for (size_t i = 0; i < panes_.size(); ++i) {
        panes_[i]->header()->setCompact(compact);
        grid_->addWidget(panes_[i], int(i) / columns, int(i) % columns);
        panes_[i]->show();
    }
}

void LanesView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
    updateScroll();
}

void LanesView::append() {
    for (LanePane* pane : panes_)
        pane->body()->appendNew();
    if (!header_timer_.isActive()) header_timer_.start();
}

void LanesView::endTexts() {
    if (!controller_.runIsOver()) return;
    for (LanePane* pane : panes_)
        pane->body()->endText();
}

void LanesView::updateHeaders() {
    for (LanePane* pane : panes_)
        pane->updateHeader();
}

void LanesView::updateScroll() {
    int content = 0, page = INT_MAX;
    for (LanePane* pane : panes_) {
        content = std::max(content, pane->body()->contentHeight());
        page = std::min(page, pane->body()->visibleHeight());
    }
    if (panes_.empty() || rebuilding_) return;
    adjusting_ = true;
    bar_->setPageStep(page);
    // whole lines, so that none is cut under the line above the text
    const int line = panes_.front()->body()->lineHeight();
    bar_->setSingleStep(line);
    bar_->setRange(0, (std::max(0, content - page) + line - 1) / line * line);
    if (following_) bar_->setValue(bar_->maximum());
    adjusting_ = false;
    applyScroll();  // of panes that came later than the bar's last move, too
}

void LanesView::applyScroll() {
    for (LanePane* pane : panes_) {
        const int line = pane->body()->lineHeight();
        pane->body()->setScroll(bar_->value() / line * line);
    }
}

void LanesView::setFollowing(bool follow) {
    following_ = follow;
    updateScroll();
}

void LanesView::setPromptShown(bool shown) {
    if (shown == prompt_shown_) return;
    prompt_shown_ = shown;
    for (LanePane* pane : panes_)
        pane->body()->setPromptShown(shown);
    if (shown) bar_->setValue(0);
    emit promptShownChanged(shown);
}

void LanesView::setTextPoints(double points, int least_columns, int most_columns) {
    points_ = points;
    least_columns_ = least_columns;
    most_columns_ = most_columns;
    for (LanePane* pane : panes_)
        pane->body()->setTextPoints(points);
    arrange();
    updateScroll();
}

int LanesView::focusedLane() const {
    for (LanePane* pane : panes_)
        if (pane->body()->hasFocus() || pane->header()->menuButton()->hasFocus()) return pane->lane();
    return -1;
}

void LanesView::focusFirstLane() {
    if (!panes_.empty()) panes_.front()->body()->setFocus();
}

void LanesView::restyle() {
    columns_ = 0;
    arrange();
    for (LanePane* pane : panes_)
        pane->restyle();
    legend_->updateGeometry();
    updateScroll();
    hidePopover();
}

void LanesView::showPopover(LanePane* pane, int step) {
    if (!popover_) popover_ = new TokenPopover(window());
    const QRect token = pane->body()->stepRect(step);
    if (token.isNull()) return;
    hover_step_ = step;
    popover_->showFor(controller_.sharedRun(), pane->lane(), step,
                      QRect(pane->body()->mapTo(window(), token.topLeft()), token.size()));
}

void LanesView::hidePopover() {
    if (popover_) popover_->hide();
}

bool LanesView::popoverShown() const {
    return popover_ && popover_->isVisible();
}

}  // namespace kvasir::ui
