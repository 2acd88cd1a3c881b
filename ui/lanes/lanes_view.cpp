// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lanes_view.h"

#include <QGridLayout>
#include <QMenu>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lane_tabs.h"
#include "ui/lanes/tint_legend.h"
#include "ui/lanes/token_popover.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

LanesView::LanesView(RunController& controller, ViewState& view, QWidget* parent)
    : QWidget(parent),
      controller_(controller),
      view_(view),
      tabs_(new LaneTabs(this)),
      ground_(new QWidget(this)),
      grid_(new QGridLayout(ground_)),
      bar_(new QScrollBar(Qt::Vertical, this)),
      legend_(new TintLegend(view, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3);
    column->addWidget(tabs_);
    auto* row = new QHBoxLayout;
    row->setSpacing(2);
    row->addWidget(ground_, 1);
    row->addWidget(bar_);
    column->addLayout(row, 1);
    column->addWidget(legend_);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(5);
    tabs_->hide();
    bar_->setAccessibleName(tr("Scroll all lanes"));
    hover_timer_.setSingleShot(true);
    hover_timer_.setInterval(350);
    connect(&hover_timer_, &QTimer::timeout, this, [this] {
        if (hover_pane_ && hover_step_ >= 0) showPopover(hover_pane_, hover_step_);
    });
    connectScrolling();
    connect(tabs_, &LaneTabs::changed, this, &LanesView::arrange);
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
        if (!controller_.underWay()) updateHeaders();  // else with the records
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
    connect(body, &LaneBody::scrollWanted, this, [this, pane](int y) { scrollLaneTo(pane, y); });
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

/// What runs and is not hidden, as it looks in this theme.
QVector<LaneTabs::Lane> LanesView::lanesInSight() const {
    const Experiment& experiment = controller_.shownExperiment();
    QVector<LaneTabs::Lane> lanes;
    for (int i = 0; i < int(experiment.lanes.size()); ++i) {
        if ((!experiment.lanes[size_t(i)].enabled && i != experiment.reference) || !view_.laneShown(i)) continue;
        lanes << LaneTabs::Lane{i, Theme::instance().laneOf(experiment, i),
                                QString::fromStdString(display_name(experiment.lanes[size_t(i)].spec)),
                                i == experiment.reference};
    }
    return lanes;
}

void LanesView::rebuild() {
    hidePopover();
    const Experiment& experiment = controller_.shownExperiment();
    const QVector<LaneTabs::Lane> lanes = lanesInSight();
    {
        // the panes change one by one: what concerns all of them waits for the last
        const QScopedValueRollback<bool> batch(batch_, true);
        while (panes_.size() > size_t(lanes.size())) {
            LanePane* pane = panes_.back();  // whose menu may have asked for this
            panes_.pop_back();
            pane->hide();
            pane->disconnect(this);
            pane->body()->disconnect(this);
            pane->setObjectName(QString());
            pane->deleteLater();
        }
        while (panes_.size() < size_t(lanes.size()))
            panes_.push_back(makePane(int(panes_.size())));
        hover_pane_ = nullptr;
        placed_.clear();
        for (size_t i = 0; i < panes_.size(); ++i)
            panes_[i]->setLane(lanes[int(i)].lane);
        tabs_->setLanes(lanes);
        arrange();
    }
    legend_->setFreeRunning(experiment.mode == Mode::free_running);
    updateGeometry();
    updateScroll();
}

LanesRoom LanesView::room() const {
    const Theme& theme = Theme::instance();
    const QFontMetricsF metrics(theme.font(points_));
    LanesRoom room;
    // of the whole view: what the tabs take is reckoned with, whether they are there or not
    room.size = {width() - bar_->sizeHint().width() - 2, height() - legend_->sizeHint().height() - 3};
    room.n_lanes = int(panes_.size());
    room.gap = grid_->spacing();
    const int sides = 2 * theme.px(13);
    room.wide = int(metrics.averageCharWidth() * 32) + sides;
    room.narrow = std::max(int(metrics.averageCharWidth() * 22) + sides, theme.px(190));
    room.full_header = LaneHeader::heightOf(false);
    room.compact_header = LaneHeader::heightOf(true);
    room.above_text = LaneBody::leastHeadHeight() + 4;
    room.line = TokenFlow::lineHeightOf(theme.font(points_));
    room.tabs = tabs_->sizeHint().height() + 3;
    room.least_columns = least_columns_;
    room.most_columns = most_columns_;
    return room;
}

QSize LanesView::minimumSizeHint() const {
    const LanesRoom r = room();
    return {r.narrow + bar_->sizeHint().width() + 2, leastHeightOfLanes(r) + legend_->sizeHint().height() + 3};
}

LanePane* LanesView::paneOf(int lane) const {
    for (LanePane* pane : panes_)
        if (pane->lane() == lane) return pane;
    return nullptr;
}

std::vector<LanePane*> LanesView::panesInSight() const {
    return placed_;
}

/// Showing or hiding the tabs lays the window out, which asks for this again: then after it, not in the middle of it,
/// where Qt would forget that the tabs were hidden.
void LanesView::arrange() {
    arrange_again_ = true;
    if (arranging_) return;
    const QScopedValueRollback<bool> arranging(arranging_, true);
    for (int i = 0; i < 4 && std::exchange(arrange_again_, false); ++i)
        arrangeOnce();
}

void LanesView::arrangeOnce() {
    const LanesShape shape = shapeOfLanes(room());
    std::vector<LanePane*> in_sight = panes_;
    if (shape.tabs) {
        in_sight.clear();
        LanePane *chosen = paneOf(tabs_->lane()), *beside = paneOf(tabs_->beside());
        // the one that is compared with stands first, as the reference does
        if (beside && beside != chosen && shape.n_panes > 1) in_sight.push_back(beside);
        if (chosen) in_sight.push_back(chosen);
    }
    tabs_->setVisible(shape.tabs);
    tabs_->setBesideShown(shape.n_panes > 1);
    if (shape == shape_ && in_sight == placed_) return;
    shape_ = shape;
    place(in_sight);
    updateScroll();
}

void LanesView::place(const std::vector<LanePane*>& in_sight) {
    const QScopedValueRollback<bool> batch(batch_, true);
    hidePopover();
    while (QLayoutItem* item = grid_->takeAt(0))
        delete item;
    placed_ = in_sight;
    const int columns = std::max(1, std::min(shape_.columns, int(in_sight.size())));
    const int rows = (int(in_sight.size()) + columns - 1) / columns;
    for (int i = 0; i < std::max({grid_->columnCount(), grid_->rowCount(), columns, rows}); ++i) {
        grid_->setColumnStretch(i, i < columns ? 1 : 0);
        grid_->setRowStretch(i, i < rows ? 1 : 0);
    }
    for (LanePane* pane : panes_)
        if (std::find(in_sight.begin(), in_sight.end(), pane) == in_sight.end()) pane->hide();
    for (size_t i = 0; i < in_sight.size(); ++i) {
        LanePane* pane = in_sight[i];
        pane->header()->setCompact(shape_.compact);
        grid_->addWidget(pane, int(i) / columns, int(i) % columns);
        pane->show();
        pane->body()->appendNew();  // what came while it was behind a tab
        pane->updateHeader();
    }
}

void LanesView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
    updateScroll();
}

void LanesView::append() {
    {
        const QScopedValueRollback<bool> batch(batch_, true);
        for (LanePane* pane : placed_) {
            pane->body()->appendNew();
            pane->updateHeader();
        }
    }
    updateScroll();
}

void LanesView::updateHeaders() {
    for (LanePane* pane : panes_)
        pane->updateHeader();
}

void LanesView::setPromptShown(bool shown) {
    if (shown == prompt_shown_) return;
    prompt_shown_ = shown;
    {
        const QScopedValueRollback<bool> batch(batch_, true);
        for (LanePane* pane : panes_)
            pane->body()->setPromptShown(shown);
    }
    if (shown) following_ = false;
    place_ = 0;
    updateScroll();
    emit promptShownChanged(shown);
}

void LanesView::setTextPoints(double points, int least_columns, int most_columns) {
    points_ = points;
    least_columns_ = least_columns;
    most_columns_ = most_columns;
    restyle();
}

int LanesView::focusedLane() const {
    for (LanePane* pane : panes_)
        if (pane->body()->hasFocus() || pane->header()->menuButton()->hasFocus()) return pane->lane();
    return -1;
}

void LanesView::focusFirstLane() {
    if (!placed_.empty()) placed_.front()->body()->setFocus();
}

void LanesView::restyle() {
    {
        const QScopedValueRollback<bool> batch(batch_, true);
        for (LanePane* pane : panes_) {
            pane->body()->setTextPoints(points_);
            pane->restyle();
        }
        tabs_->setLanes(lanesInSight());
    }
    legend_->updateGeometry();
    updateGeometry();
    arrange();
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
