// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include <QApplication>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "core/session/lane_identity.h"
#include "ui/lanes/lanes_view.h"
#include "ui/plots/controller_feed.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/experiment_dock.h"
#include "ui/shell/experiment_panel.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/lane_list.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/run_messages.h"
#include "ui/shell/run_status.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/start_banner.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

Experiment rememberedExperiment(const Settings& settings) {
    const QByteArray stored = settings.get("experiment/last").toByteArray();
    const auto json = nlohmann::json::parse(stored.begin(), stored.end(), nullptr, false);
    if (!json.is_discarded())
        if (auto experiment = experiment_from_json(json)) return *experiment;
    return Experiment::first_start();
}

}  // namespace

MainWindow::MainWindow(Settings& settings, const QString& data_folder)
    : settings_(settings),
      files_(controller_, data_folder.isEmpty() && settings.remembers() ? SessionFiles::standardFolder() : data_folder),
      edits_(controller_),
      actions_(this) {
    setObjectName(QStringLiteral("main-window"));
    add_lane_tip_ = actions_["add-lane"]->toolTip();
    setAcceptDrops(true);
    // A dock is dragged alone, not with the tabs beside it: the window that Qt makes for such a group (GroupedDragging)
    // is painted after it was closed, which Qt 6.4 warns of, and later versions crash on (qgis/QGIS#65055).
    setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setContextMenuPolicy(Qt::NoContextMenu);
    scale_ = settings_.get("look/scale").toDouble();
    theme_name_ = settings_.get("look/theme").toString();
    applyTheme();
    view_.setErrorMeasure(settings_.get("lanes/measure").toString() == QLatin1String("dp")
                              ? ErrorMeasure::delta_probability
                              : ErrorMeasure::kl);
    controller_.setExperiment(rememberedExperiment(settings_));
    connect(&controller_, &RunController::runLeaves, &view_, &ViewState::leaveRun);

    toolbar_ = new RunToolbar(controller_, actions_, this);
    addToolBar(toolbar_);
    makeCentre();
    makeDocks();
    status_ = new RunStatus(controller_, *statusBar());
    connectActions();
    connectViewActions();
    fillMenus();
    connectController();
    connectFiles();
    const QSize available = screen()->availableSize();
    resize(std::min(available.width() * 95 / 100, 1760), std::min(available.height() * 92 / 100, 1000));
    if (const QByteArray geometry = settings_.get("window/geometry").toByteArray(); !geometry.isEmpty())
        restoreGeometry(geometry);
    layout_->restoreDefault();
    if (const QByteArray state = settings_.get("window/state").toByteArray(); !state.isEmpty())
        layout_->restoreOwn(state);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        retypeset(this);
        lanes_->restyle();
        for (PlotDock* dock : plots_)
            dock->restyle();
        experiment_dock_->restyle();
        panel_->lanes()->rebuild();
        toolbar_->refresh();
        status_->restyle();
        QTimer::singleShot(0, layout_, &DockLayout::adapt);  // when the new type has been laid out
    });
    updateActions();
    updateBanner();
    lanes_->focusFirstLane();
}

void MainWindow::memoryRanOut() {
    controller_.stop();
    messages_->show(QStringLiteral("memory"), MessageBar::Kind::bad,
                    tr("There was not enough memory for what the window was doing, and a run was stopped. Save the "
                       "session, close other programs or use fewer lanes."));
}

MainWindow::~MainWindow() {
    edits_.stack().disconnect(this);  // it says goodbye when the actions are gone already
    // the views look at the controller, which goes before the widgets that Qt would delete on its own
    delete takeCentralWidget();
    delete layout_;
    qDeleteAll(findChildren<QDockWidget*>());
    delete toolbar_;
}

void MainWindow::makeCentre() {
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 1, 0, 2);
    column->setSpacing(5);
    messages_ = new MessageArea(centre);
    column->addWidget(messages_);

    banner_ = new StartBanner(centre);
    connect(banner_->runButton(), &QPushButton::clicked, actions_["run"], &QAction::trigger);
    banner_->lastSessionButton()->setToolTip(actions_["last-session"]->toolTip());
    connect(banner_->lastSessionButton(), &QPushButton::clicked, actions_["last-session"], &QAction::trigger);
    column->addWidget(banner_);

    lanes_ = new LanesView(controller_, view_, centre);
    lanes_->setPromptShown(settings_.get("lanes/prompt").toBool());
    connect(lanes_, &LanesView::laneMenuWanted, this, [this](int lane, QMenu* menu) {
        fillLaneMenu(same_lane(controller_.shownExperiment(), lane, controller_.experiment()), menu);
    });
    column->addWidget(lanes_, 1);
    setCentralWidget(centre);
}

void MainWindow::makeDocks() {
    experiment_dock_ = new ExperimentDock(this);
    panel_ = new ExperimentPanel(controller_, edits_, actions_, experiment_dock_);
    experiment_dock_->setPanel(panel_);
    connect(panel_->lanes(), &LaneList::menuWanted, this, &MainWindow::fillLaneMenu);
    connect(panel_->lanes(), &LaneList::editWanted, this, &MainWindow::editLane);
    const auto in_run = [this](int lane) {
        return same_lane(controller_.experiment(), lane, controller_.shownExperiment());
    };
    panel_->lanes()->setHiddenTest([this, in_run](int lane) {
        const int shown = in_run(lane);
        return shown >= 0 && !view_.laneShown(shown);
    });
    connect(panel_->lanes(), &LaneList::showWanted, this, [this, in_run](int lane) {
        if (const int shown = in_run(lane); shown >= 0) view_.setLaneShown(shown, true);
    });
    // later, because a click in a row may be what shows its lane again
    connect(&view_, &ViewState::lanesShownChanged, panel_->lanes(),
            [list = panel_->lanes()] { QTimer::singleShot(0, list, &LaneList::rebuild); });
    for (const PlotEntry& entry : plotRegistry()) {
        auto* dock = new PlotDock(entry, entry.make(controller_, view_, this), this);
        connect(dock, &PlotDock::exportWanted, this, [this, dock] { exportWithDialog(dock); });
        plots_.push_back(dock);
    }
    layout_ = new DockLayout(*this, *experiment_dock_, plots_);
}

void MainWindow::connectController() {
    new RunMessages(controller_, actions_, *messages_, this);
    connect(&controller_, &RunController::statusChanged, this, [this] {
        if (controller_.status().state == last_state_) return;
        last_state_ = controller_.status().state;
        updateActions();
        updateBanner();
    });
    connect(&controller_, &RunController::modelChanged, this, [this] {
        Experiment e = controller_.experiment();
        e.model_path = controller_.model()->file().path();
        controller_.setExperiment(e);
        messages_->clear(QStringLiteral("model"));
        updateActions();
        updateBanner();
        status_->show();
    });
    connect(&controller_, &RunController::runBegan, this, [this] {
        updateActions();
        updateBanner();
    });
    connect(&ControllerFeed::of(controller_), &PlotFeed::planChanged, this, &MainWindow::updateBanner);
    connect(&controller_, &RunController::experimentChanged, this, [this] {
        if (controller_.run().empty()) view_.leaveRun();  // lanes may have moved
        updateBanner();
        updateActions();
    });
}

}  // namespace kvasir::ui
