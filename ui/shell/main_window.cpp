// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QStatusBar>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/lanes/lanes_view.h"
#include "ui/shell/experiment_panel.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/lane_list.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/run_toolbar.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

bool underWay(EngineState s) { return s == EngineState::prompt || s == EngineState::running || s == EngineState::paused; }

Experiment rememberedExperiment(const Settings& settings) {
    const QByteArray stored = settings.get("experiment/last").toByteArray();
    const auto json = nlohmann::json::parse(stored.begin(), stored.end(), nullptr, false);
    if (!json.is_discarded())
        if (auto experiment = experiment_from_json(json)) return *experiment;
    return Experiment::first_start();
}

/// "83–96 %" over the lanes that are not exact.
QString coverageRange(const RunInfo& info, const EngineStatus& status, double (Coverage::*side)() const) {
    double low = 1, high = 0;
    for (size_t i = 0; i < std::min(info.lanes.size(), status.coverage.size()); ++i) {
        if (info.lanes[i].exact || info.lanes[i].failed || !info.experiment.lanes[i].enabled) continue;
        low = std::min(low, (status.coverage[i].*side)());
        high = std::max(high, (status.coverage[i].*side)());
    }
    if (low > high) return {};
    const int a = qRound(low * 100), b = qRound(high * 100);
    return a == b ? QStringLiteral("%1 %").arg(a) : QStringLiteral("%1–%2 %").arg(a).arg(b);
}

}  // namespace

MainWindow::MainWindow(Settings& settings)
    : settings_(settings), edits_(controller_), actions_(this), main_menu_(new QMenu(this)) {
    setWindowTitle(QStringLiteral("Kvasir"));
    setObjectName(QStringLiteral("main-window"));
    setAcceptDrops(true);
    setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks | QMainWindow::GroupedDragging);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setContextMenuPolicy(Qt::NoContextMenu);
    scale_ = settings_.get("look/scale").toDouble();
    theme_name_ = settings_.get("look/theme").toString();
    applyTheme();
    view_.setErrorMeasure(settings_.get("lanes/measure").toString() == QLatin1String("dp") ? ErrorMeasure::delta_probability : ErrorMeasure::kl);
    controller_.setExperiment(rememberedExperiment(settings_));

    toolbar_ = new RunToolbar(controller_, actions_, main_menu_, this);
    addToolBar(toolbar_);
    makeCentre();
    makeDocks();
    makeStatusBar();
    connectActions();
    connectViewActions();
    fillMainMenu(main_menu_);
    connectController();
    const QSize available = screen()->availableSize();
    resize(std::clamp(available.width() * 95 / 100, 1140, 1760), std::clamp(available.height() * 92 / 100, 580, 1000));
    restoreDefaultLayout();
    if (const QByteArray geometry = settings_.get("window/geometry").toByteArray(); !geometry.isEmpty()) restoreGeometry(geometry);
    if (const QByteArray state = settings_.get("window/state").toByteArray(); !state.isEmpty()) restoreState(state, 1);
    qApp->installEventFilter(this);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        retypeset(this);
        lanes_->restyle();
        for (PlotDock* dock : plots_) dock->restyle();
        panel_->lanes()->rebuild();
        toolbar_->refresh();
    });
    updateActions();
    updateBanner();
    showStatus();
    lanes_->focusFirstLane();
}

MainWindow::~MainWindow() {
    qApp->removeEventFilter(this);
    // the views look at the controller, which goes before the widgets that Qt would delete on its own
    delete takeCentralWidget();
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

    auto* banner = new QFrame(centre);
    banner->setObjectName(QStringLiteral("card"));
    banner_ = banner;
    auto* row = new QHBoxLayout(banner);
    row->setContentsMargins(14, 8, 14, 8);
    auto* words = new QVBoxLayout;
    words->setSpacing(1);
    words->addWidget(banner_title_ = makeLabel(QString(), 12, Face::semibold));
    words->addWidget(banner_text_ = makeLabel(QString(), 10, Face::regular, QStringLiteral("dim")));
    banner_text_->setWordWrap(true);
    row->addLayout(words, 1);
    banner_run_ = new QPushButton;
    banner_run_->setObjectName(QStringLiteral("primary"));
    banner_run_->setIcon(icon(QStringLiteral("run"), QStringLiteral("on_accent")));
    connect(banner_run_, &QPushButton::clicked, actions_["run"], &QAction::trigger);
    row->addWidget(banner_run_);
    column->addWidget(banner);

    lanes_ = new LanesView(controller_, view_, centre);
    lanes_->setPromptShown(settings_.get("lanes/prompt").toBool());
    connect(lanes_, &LanesView::laneMenuWanted, this, [this](int lane, QMenu* menu) {
        const auto &run = controller_.run();
        const auto& now = controller_.experiment().lanes;
        if (!run.empty() && (lane >= int(now.size()) || !(now[size_t(lane)].spec == run.info().experiment.lanes[size_t(lane)].spec)))
            menu->addAction(tr("The experiment has another lane here now"))->setEnabled(false);
        else fillLaneMenu(lane, menu);
    });
    column->addWidget(lanes_, 1);
    setCentralWidget(centre);
}

void MainWindow::makeDocks() {
    experiment_dock_ = new QDockWidget(tr("Experiment"), this);
    experiment_dock_->setObjectName(QStringLiteral("experiment"));
    experiment_dock_->setTitleBarWidget(makeDockTitle(experiment_dock_, tr("Experiment")));
    panel_ = new ExperimentPanel(controller_, edits_, actions_, experiment_dock_);
    experiment_dock_->setWidget(panel_);
    connect(panel_->lanes(), &LaneList::menuWanted, this, &MainWindow::fillLaneMenu);
    connect(panel_->lanes(), &LaneList::editWanted, this, &MainWindow::editLane);
    for (const PlotEntry& entry : plotRegistry()) {
        auto* dock = new PlotDock(entry, entry.make(controller_, view_, this), this);
        connect(dock, &PlotDock::exportWanted, this, [this, dock] { exportWithDialog(dock); });
        plots_.push_back(dock);
    }
}

void MainWindow::makeStatusBar() {
    status_text_ = new OneLineLabel;
    status_facts_ = new OneLineLabel;
    typeset(status_text_, 9);
    typeset(status_facts_, 9, Face::regular, QStringLiteral("dim"));
    status_facts_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(8, 0, 8, 0);
    statusBar()->addWidget(status_text_, 3);
    statusBar()->addPermanentWidget(status_facts_, 2);
}

void MainWindow::connectController() {
    connect(&controller_, &RunController::statusChanged, this, [this] {
        showStatus();
        updateActions();
        if (controller_.status().state != last_state_) {
            last_state_ = controller_.status().state;
            if (last_state_ == EngineState::failed) showFailure();
            if (last_state_ == EngineState::loading || underWay(last_state_)) messages_->clear(QStringLiteral("failure"));
            updateBanner();
        }
        for (size_t i = 0; i < controller_.status().lane_errors.size(); ++i) {
            const QString key = QStringLiteral("lane-%1").arg(i), why = QString::fromStdString(controller_.status().lane_errors[i]);
            if (!why.isEmpty() && !messages_->message(key)) messages_->show(key, MessageBar::Kind::warn, why);
        }
    });
    connect(&controller_, &RunController::modelChanged, this, [this] {
        Experiment e = controller_.experiment();
        e.model_path = controller_.model()->file().path();
        controller_.setExperiment(e);
        messages_->clear(QStringLiteral("model"));
        messages_->clear(QStringLiteral("failure"));
        updateActions();
        updateBanner();
        showStatus();
    });
    connect(&controller_, &RunController::runBegan, this, [this] {
        view_.setCrosshairStep(-1);
        showRunNotes();
        updateBanner();
    });
    connect(&controller_, &RunController::experimentChanged, this, [this] {
        updateBanner();
        updateActions();
        const RunModel& run = controller_.run();
        Experiment e = controller_.experiment();
        if (!run.empty()) e.model_path = run.info().experiment.model_path;
        if (run.empty() || e == run.info().experiment) return messages_->clear(QStringLiteral("changed"));
        if (messages_->message(QStringLiteral("changed"))) return;
        messages_->show(QStringLiteral("changed"), MessageBar::Kind::info, tr("The experiment has changed since this run."))
            ->addAction(tr("Run again"), [this] { actions_["run"]->trigger(); });
    });
}

void MainWindow::showRunNotes() {
    for (int i = 0; i < 32; ++i) messages_->clear(QStringLiteral("lane-%1").arg(i));
    for (const char* key : {"changed", "note", "unequal"}) messages_->clear(QLatin1String(key));
    const RunModel& run = controller_.run();
    if (run.empty()) return;
    if (!run.info().note.empty()) messages_->show(QStringLiteral("note"), MessageBar::Kind::info, QString::fromStdString(run.info().note));
    if (const QString unequal = unequalNote(run); !unequal.isEmpty()) messages_->show(QStringLiteral("unequal"), MessageBar::Kind::warn, unequal);
    for (size_t i = 0; i < run.info().lanes.size(); ++i) {
        const auto& lane = run.info().lanes[i];
        if (lane.why.empty()) continue;
        messages_->show(QStringLiteral("lane-%1").arg(i), MessageBar::Kind::warn,
                        tr("Requested %1, running %2: %3").arg(QString::fromStdString(lane.requested), QString::fromStdString(lane.active), QString::fromStdString(lane.why)));
    }
}

void MainWindow::showFailure() {
    messages_->show(QStringLiteral("failure"), MessageBar::Kind::bad, QString::fromStdString(controller_.status().error.message()));
}

void MainWindow::updateActions() {
    const EngineState state = controller_.status().state;
    const bool model = controller_.model() != nullptr, measured = !controller_.run().empty();
    actions_["run"]->setEnabled(model);
    actions_["step"]->setEnabled(model);
    actions_["pause"]->setEnabled(underWay(state));
    actions_["pause"]->setIcon(icon(state == EngineState::paused ? QStringLiteral("run") : QStringLiteral("pause")));
    actions_["stop"]->setEnabled(underWay(state) || state == EngineState::loading);
    actions_["copy-transcript"]->setEnabled(measured);
    const Mode mode = controller_.experiment().mode;
    actions_["teacher-forced"]->setChecked(mode == Mode::teacher_forced);
    actions_["free-running"]->setChecked(mode == Mode::free_running);
    actions_["free-running"]->setEnabled(!controller_.experiment().score_text);
    banner_run_->setEnabled(model);
}

void MainWindow::updateBanner() {
    const Experiment& e = controller_.experiment();
    const bool wanted = controller_.run().empty() && !underWay(controller_.status().state) && !present_;
    banner_->setVisible(wanted);
    toolbar_->setRunFilled(!wanted);
    if (!wanted) return;
    int n = 0;
    for (size_t i = 0; i < e.lanes.size(); ++i) n += e.lanes[i].enabled || int(i) == e.reference;
    const QString model = controller_.model() ? tr("one model") : tr("no model yet");
    banner_title_->setText(n == 1 ? tr("Ready: one cache, one text, %1").arg(model) : tr("Ready: %1 caches, one text, %2").arg(n).arg(model));
    const QString what = e.score_text ? tr("scored") : tr("written");
    banner_text_->setText(e.n_tokens > 0 ? tr("%1 tokens %2 through %3 and %4 compressed. No GPU needed.").arg(countText(e.n_tokens), what, QString::fromStdString(e.lanes.empty() ? "" : e.lanes[size_t(e.reference)].spec.text)).arg(n - 1)
                                         : tr("The whole text %1 through %2 caches. No GPU needed.").arg(what).arg(n));
    banner_run_->setText(n == 1 ? tr("Run 1 lane") : tr("Run %1 lanes").arg(n));
}

void MainWindow::showStatus() {
    const EngineStatus& s = controller_.status();
    const RunModel& run = controller_.run();
    const QString counts = tr("%1 of %2 tokens").arg(countText(s.n_done), countText(s.n_planned));
    QString coverage;
    if (!run.empty() && !s.coverage.empty()) {
        const QString k = coverageRange(run.info(), s, &Coverage::k), v = coverageRange(run.info(), s, &Coverage::v);
        if (!k.isEmpty()) coverage = tr(" · coverage K %1, V %2").arg(k, v);
    }
    QString text;
    if (controller_.runIsFromFile() && s.state != EngineState::loading && !underWay(s.state)) {
        status_text_->setText(tr("Ready · the run shown is from a session"));
        return showKernels();
    }
    switch (s.state) {
        case EngineState::loading: text = tr("Loading · %1").arg(QString::fromStdString(s.what)); break;
        case EngineState::prompt: text = tr("Reading the prompt"); break;
        case EngineState::running: text = tr("Running · ") + counts + coverage; break;
        case EngineState::paused: text = tr("Paused · ") + counts + coverage; break;
        case EngineState::finished: text = tr("Done · ") + counts + coverage; break;
        case EngineState::stopped: text = tr("Stopped · ") + counts + coverage; break;
        case EngineState::failed: text = tr("Not done · %1").arg(QString::fromStdString(s.error.what)); break;
        case EngineState::idle:
            if (!controller_.model()) text = tr("No model is open");
            else text = tr("Ready · %1 loaded · %2").arg(modelTitle(controller_.model()->file().path(), controller_.model()->config().weights), run.empty() ? tr("nothing measured") : tr("the run shown was made before"));
    }
    status_text_->setText(text);
    showKernels();
}

void MainWindow::showKernels() {
    const RunModel& run = controller_.run();
    const bool fused = (run.empty() ? controller_.experiment() : run.info().experiment).kernels == KernelPath::fused;
    QStringList facts{fused ? tr("fused kernels") : tr("reference kernels")};
    if (!run.empty()) {
        if (!run.info().simd.empty()) facts.append(QString::fromStdString(run.info().simd));
        if (run.info().n_threads > 0) facts.append(tr("%1 threads").arg(run.info().n_threads));
    }
    facts.append(tr("CPU"));
    status_facts_->setText(facts.join(QStringLiteral(" · ")));
}

}  // namespace kvasir::ui
