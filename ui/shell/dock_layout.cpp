// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dock_layout.h"

#include <QMainWindow>
#include <QScopedValueRollback>
#include <QTimer>
#include <algorithm>

#include "ui/shell/experiment_dock.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

constexpr int kStateVersion = 2;  // 1 could hold floating groups of docks
// In pixels at 100 % type. Wide: three rows of plots, the histograms among them. Stacked: three plots above each other
// with 60 pixels of picture each. Folded: below it four lanes have no room for two columns beside panel and plots.
constexpr int kWideWidth = 1500, kWideHeight = 940, kStackedHeight = 640, kFoldWidth = 1200, kPresentPlotWidth = 860;

}  // namespace

Arrangement arrangementFor(QSize size, double type_scale) {
    const double w = size.width() / type_scale, h = size.height() / type_scale;
    if (w >= kWideWidth && h >= kWideHeight) return Arrangement::wide;
    return h >= kStackedHeight ? Arrangement::stacked : Arrangement::tabs;
}

bool experimentFolds(QSize size, double type_scale) {
    return size.width() / type_scale < kFoldWidth;
}

DockLayout::DockLayout(QMainWindow& window, ExperimentDock& experiment, const std::vector<PlotDock*>& plots)
    : QObject(&window), window_(window), experiment_(experiment), plots_(plots) {
    watch(&experiment_);
    for (PlotDock* dock : plots_)
        watch(dock);
}

void DockLayout::watch(QDockWidget* dock) {
    const auto moved = [this] {
        if (!placing_ && placed_) own_ = true;
    };
    connect(dock, &QDockWidget::dockLocationChanged, this, moved);
    connect(dock, &QDockWidget::topLevelChanged, this, moved);
    // a tab that is chosen, or left, tells it in the middle of a layout
    connect(dock, &QDockWidget::visibilityChanged, this, [this] {
        if (placing_ || std::exchange(looking_, true)) return;
        QTimer::singleShot(0, this, [this] {
            looking_ = false;
            giveColumn();
        });
    });
}

PlotDock* DockLayout::plot(const char* id) const {
    for (PlotDock* dock : plots_)
        if (dock->entry().id == QLatin1String(id)) return dock;
    return nullptr;
}

void DockLayout::restoreDefault() {
    own_ = false;
    place(true);
}

void DockLayout::adapt() {
    if (!placed_) return;
    const double scale = Theme::instance().typeScale();
    const QScopedValueRollback guard(placing_, true);
    const bool folded = experiment_.folded();
    if (!experiment_.isFloating()) experiment_.setFolded(experimentFolds(window_.size(), scale));
    experiment_.placeOverlay();
    if (present_) return placePresent();
    if (own_) return;
    // where a person moved a border it stays while the room is of the same kind
    const PlotDock* error = plot("error-per-token");
    const bool as_shared = std::abs(error->width() - shared_width_) <= 2;
    if (arrangementFor(window_.size(), scale) != arrangement_)
        place(false);
    else if (folded != experiment_.folded() || scale != shared_scale_ || as_shared)
        shareRoom();
}

/// The errors beside the lanes, where there is room for both.
void DockLayout::placePresent() {
    PlotDock* error = plot("error-per-token");
    const bool room = window_.width() / Theme::instance().typeScale() >= kPresentPlotWidth;
    if (room == !error->isHidden()) return;
    error->setVisible(room);
    if (!room) return;
    error->raise();
    window_.resizeDocks({error}, {window_.width() * 3 / 10}, Qt::Horizontal);
}

void DockLayout::place(bool show_all) {
    const QScopedValueRollback guard(placing_, true);
    placed_ = true;
    const double scale = Theme::instance().typeScale();
    const bool experiment_shown = show_all || !experiment_.isHidden();
    for (QDockWidget* dock : gave_way_)
        dock->show();
    gave_way_.clear();
    experiment_.setFloating(false);
    experiment_.setFolded(experimentFolds(window_.size(), scale));
    window_.addDockWidget(Qt::LeftDockWidgetArea, &experiment_);
    experiment_.setVisible(experiment_shown);
    placePlots(show_all);
}

void DockLayout::placePlots(bool show_all) {
    arrangement_ = arrangementFor(window_.size(), Theme::instance().typeScale());
    std::vector<PlotDock*> closed;
    for (PlotDock* dock : plots_)
        if (!show_all && dock->isHidden()) closed.push_back(dock);
    for (PlotDock* dock : plots_) {
        dock->setFloating(false);
        window_.removeDockWidget(dock);
    }
    PlotDock *error = plot("error-per-token"), *memory = plot("memory"), *speed = plot("tokens-per-second"),
             *layers = plot("error-by-layer"), *spread = plot("distributions");
    window_.addDockWidget(Qt::RightDockWidgetArea, error);
    std::vector<PlotDock*> tabs;
    if (arrangement_ == Arrangement::wide) {
        window_.splitDockWidget(error, layers, Qt::Vertical);
        window_.splitDockWidget(layers, memory, Qt::Vertical);
        window_.splitDockWidget(layers, spread, Qt::Horizontal);
        window_.splitDockWidget(memory, speed, Qt::Horizontal);
    } else if (arrangement_ == Arrangement::stacked) {
        window_.splitDockWidget(error, memory, Qt::Vertical);
        window_.splitDockWidget(memory, speed, Qt::Vertical);
        tabs = {layers, spread};
    } else {
        tabs = {memory, speed, layers, spread};
    }
    for (PlotDock* dock : plots_)  // and plots that the arrangement above does not know
        if (dock != error && dock != memory && dock != speed && dock != layers && dock != spread) tabs.push_back(dock);
    for (PlotDock* last = error; PlotDock * dock : tabs) {
        window_.tabifyDockWidget(last, dock);
        last = dock;
    }
    for (PlotDock* dock : plots_)
        dock->setVisible(std::find(closed.begin(), closed.end(), dock) == closed.end());
    error->raise();
    shareRoom();
}

/// The plots get a share of the width and, in type, what they need at most; a lane needs the rest.
void DockLayout::shareRoom() {
    const Theme& theme = Theme::instance();
    PlotDock *error = plot("error-per-token"), *memory = plot("memory"), *speed = plot("tokens-per-second"),
             *layers = plot("error-by-layer"), *spread = plot("distributions");
    const int width = window_.width(), tall = window_.height() - theme.px(80);
    shared_scale_ = theme.typeScale();
    shared_width_ = arrangement_ == Arrangement::wide ? width * 42 / 100 : std::min(theme.px(396), width * 34 / 100);
    if (!experiment_.folded()) window_.resizeDocks({&experiment_}, {theme.px(250)}, Qt::Horizontal);
    if (arrangement_ == Arrangement::wide) {
        const int room = shared_width_;
        window_.resizeDocks({error}, {room}, Qt::Horizontal);
        window_.resizeDocks({error, layers, memory}, {tall * 28 / 100, tall * 40 / 100, tall * 32 / 100}, Qt::Vertical);
        window_.resizeDocks({layers, spread}, {room / 2, room / 2}, Qt::Horizontal);
        window_.resizeDocks({memory, speed}, {room / 2, room / 2}, Qt::Horizontal);
        return;
    }
    window_.resizeDocks({error}, {shared_width_}, Qt::Horizontal);
    if (arrangement_ == Arrangement::stacked)
        window_.resizeDocks({error, memory, speed}, {tall * 40 / 100, tall * 30 / 100, tall * 30 / 100}, Qt::Vertical);
}

/// In the column of three: while a plot that needs height is chosen, the two below it give way, and come back after.
void DockLayout::giveColumn() {
    if (own_ || present_ || !window_.isVisible() || window_.isMinimized()) return;
    const QScopedValueRollback guard(placing_, true);
    const auto chosen = [](const PlotDock* dock) {
        return dock->isVisible() && !dock->isFloating() && !dock->visibleRegion().isEmpty();
    };
    bool tall = false;
    if (arrangement_ == Arrangement::stacked)
        for (PlotDock* dock : plots_)
            tall = tall || (dock->entry().needs_height && chosen(dock));
    if (!tall) {
        const bool came_back = !gave_way_.empty();
        for (QDockWidget* dock : gave_way_)
            dock->show();
        gave_way_.clear();
        if (came_back) shareRoom();
        return;
    }
    const auto wanted = std::find_if(gave_way_.begin(), gave_way_.end(), [](QDockWidget* d) { return !d->isHidden(); });
    if (wanted != gave_way_.end()) {  // a person asked for it: the tall plot goes back behind its tab
        plot("error-per-token")->raise();
        return giveColumn();
    }
    for (const char* id : {"memory", "tokens-per-second"})
        if (PlotDock* dock = plot(id); !dock->isHidden() && !dock->isFloating()) {
            gave_way_.push_back(dock);
            dock->hide();
        }
}

void DockLayout::setPresent(bool present) {
    if (present == present_) return;
    const QScopedValueRollback guard(placing_, true);
    if (present) {
        before_present_ = save();
        present_ = true;
        experiment_.hide();
        for (PlotDock* dock : plots_)
            dock->hide();
        // the type grows next; adapt() then shows the plot there is room for
    } else {
        present_ = false;
        window_.restoreState(before_present_, kStateVersion);
    }
}

QByteArray DockLayout::save() {
    const QScopedValueRollback guard(placing_, true);
    for (QDockWidget* dock : gave_way_)
        dock->show();
    gave_way_.clear();
    return window_.saveState(kStateVersion);
}

void DockLayout::restoreOwn(const QByteArray& state) {
    const QScopedValueRollback guard(placing_, true);
    own_ = window_.restoreState(state, kStateVersion);
}

}  // namespace kvasir::ui
