// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts, theme, type size, focus, and what is kept when the window closes.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QStatusBar>
#include <algorithm>

#include "core/session/session_file.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/experiment_panel.h"
#include "ui/shell/main_window.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/run_toolbar.h"

namespace kvasir::ui {

namespace {

/// The desktop's own palette, taken before the first theme is applied.
const QPalette& desktopPalette() {
    static const QPalette palette = QApplication::palette();
    return palette;
}

QWidget* firstFocusable(QWidget* root) {
    if (root->focusPolicy() & Qt::TabFocus && root->isEnabled()) return root;
    for (QWidget* w = root->nextInFocusChain(); w && w != root; w = w->nextInFocusChain())
        if (root->isAncestorOf(w) && w->isVisibleTo(root) && w->isEnabled() && (w->focusPolicy() & Qt::TabFocus))
            return w;
    return nullptr;
}

}  // namespace

void MainWindow::connectViewActions() {
    actions_.on("follow", [this] { followAll(); });
    const auto measure = [this](ErrorMeasure m) {
        view_.setErrorMeasure(m);
        settings_.set("lanes/measure", m == ErrorMeasure::kl ? QStringLiteral("kl") : QStringLiteral("dp"));
        actions_["tint-kl"]->setChecked(m == ErrorMeasure::kl);
        actions_["tint-dp"]->setChecked(m == ErrorMeasure::delta_probability);
    };
    actions_.on("tint-kl", [measure] { measure(ErrorMeasure::kl); });
    actions_.on("tint-dp", [measure] { measure(ErrorMeasure::delta_probability); });
    connect(&view_, &ViewState::errorMeasureChanged, this, [this, measure] { measure(view_.errorMeasure()); });
    measure(view_.errorMeasure());
    actions_["show-prompt"]->setChecked(lanes_->promptShown());
    actions_.on("show-prompt", [this] { lanes_->setPromptShown(!lanes_->promptShown()); });
    connect(lanes_, &LanesView::promptShownChanged, this, [this](bool shown) {
        actions_["show-prompt"]->setChecked(shown);
        settings_.set("lanes/prompt", shown);
    });
    actions_.on("layout-explore", [this] { setPresent(false); });
    actions_.on("layout-present", [this] { setPresent(true); });
    actions_["layout-explore"]->setChecked(true);
    connect(toolbar_, &RunToolbar::layoutChosen, this, [this](int index) { setPresent(index == 1); });
    actions_.on("restore-layout", [this] {
        setPresent(false);
        restoreDefaultLayout();
    });
    actions_.on("next-pane", [this] { focusPane(1); });
    actions_.on("previous-pane", [this] { focusPane(-1); });
    actions_.on("larger", [this] { setTypeScale(scale_ + 0.1); });
    actions_.on("smaller", [this] { setTypeScale(scale_ - 0.1); });
    actions_.on("normal-size", [this] { setTypeScale(1); });
    for (const char* name : {"auto", "light", "dark", "contrast"}) {
        const QByteArray id = QByteArray("theme-") + name;
        actions_[id.constData()]->setChecked(theme_name_ == QLatin1String(name));
        actions_.on(id.constData(), [this, name] { setTheme(QLatin1String(name)); });
    }
    actions_.on("theme-next", [this] {
        setTheme(Theme::instance().kind() == Theme::Kind::light ? QStringLiteral("dark") : QStringLiteral("light"));
    });
}

void MainWindow::applyTheme() {
    const QPalette& desktop = desktopPalette();
    const Theme::Kind kind = theme_name_ == QLatin1String("light")      ? Theme::Kind::light
                             : theme_name_ == QLatin1String("dark")     ? Theme::Kind::dark
                             : theme_name_ == QLatin1String("contrast") ? Theme::Kind::high_contrast
                                                                        : Theme::kindOf(desktop);
    applying_theme_ = true;
    Theme::instance().apply(*qApp, kind, scale_);
    applying_theme_ = false;
}

void MainWindow::setTheme(const QString& name) {
    theme_name_ = name;
    settings_.set("look/theme", name);
    for (const char* each : {"auto", "light", "dark", "contrast"})
        actions_[(QByteArray("theme-") + each).constData()]->setChecked(name == QLatin1String(each));
    applyTheme();
}

void MainWindow::setTypeScale(double scale) {
    scale_ = std::clamp(scale, 0.85, 2.0);
    if (!present_) settings_.set("look/scale", scale_);
    applyTheme();
}

PlotDock* MainWindow::plotDock(const QString& id) const {
    for (PlotDock* dock : plots_)
        if (dock->entry().id == id) return dock;
    return nullptr;
}

void MainWindow::restoreDefaultLayout() {
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    addDockWidget(Qt::LeftDockWidgetArea, experiment_dock_);
    experiment_dock_->show();
    placeDocks();
}

/// Wide windows show every plot; narrow ones stack the three that are always wanted and keep the rest behind tabs.
void MainWindow::placeDocks() {
    PlotDock *error = plotDock(QStringLiteral("error-per-token")), *memory = plotDock(QStringLiteral("memory")),
             *speed = plotDock(QStringLiteral("tokens-per-second")),
             *layers = plotDock(QStringLiteral("error-by-layer")), *spread = plotDock(QStringLiteral("distributions"));
    const bool wide = width() >= 1500;
    addDockWidget(Qt::RightDockWidgetArea, error);
    if (wide) {
        splitDockWidget(error, layers, Qt::Vertical);
        splitDockWidget(layers, memory, Qt::Vertical);
        splitDockWidget(layers, spread, Qt::Horizontal);
        splitDockWidget(memory, speed, Qt::Horizontal);
    } else {
        splitDockWidget(error, memory, Qt::Vertical);
        splitDockWidget(memory, speed, Qt::Vertical);
        tabifyDockWidget(error, layers);
        tabifyDockWidget(layers, spread);
    }
    for (PlotDock* dock : plots_) {  // plots that the arrangement above does not know
        if (dock != error && dock != memory && dock != speed && dock != layers && dock != spread)
            tabifyDockWidget(error, dock);
        dock->show();
    }
    error->raise();
    resizeDocks({experiment_dock_}, {250}, Qt::Horizontal);
    if (wide) {
        const int room = width() * 42 / 100, tall = height() - 80;
        resizeDocks({error}, {room}, Qt::Horizontal);
        resizeDocks({error, layers, memory}, {tall * 28 / 100, tall * 40 / 100, tall * 32 / 100}, Qt::Vertical);
        resizeDocks({layers, spread}, {room / 2, room / 2}, Qt::Horizontal);
        resizeDocks({memory, speed}, {room / 2, room / 2}, Qt::Horizontal);
    } else {
        resizeDocks({error}, {396}, Qt::Horizontal);
        resizeDocks({error, memory, speed}, {300, 200, 200}, Qt::Vertical);
    }
}

void MainWindow::setPresent(bool present) {
    toolbar_->setLayoutTab(present ? 1 : 0);
    actions_["layout-explore"]->setChecked(!present);
    actions_["layout-present"]->setChecked(present);
    if (present == present_) return;
    present_ = present;
    if (present) {
        state_before_present_ = saveState(1);
        scale_before_present_ = scale_;
        for (QDockWidget* dock : findChildren<QDockWidget*>())
            dock->hide();
        if (PlotDock* error = plotDock(QStringLiteral("error-per-token")); error && width() >= 1300) {
            error->show();
            error->raise();
            resizeDocks({error}, {width() * 3 / 10}, Qt::Horizontal);
        }
        lanes_->setTextPoints(14, 2, 2);
        setTypeScale(1.5);
    } else {
        lanes_->setTextPoints(11, 1, 4);
        setTypeScale(scale_before_present_);
        restoreState(state_before_present_, 1);
    }
    updateBanner();
    lanes_->focusFirstLane();
}

void MainWindow::followAll() {
    for (PlotDock* dock : plots_)
        dock->plot()->setFollowing(true);
    lanes_->setFollowing(true);
}

void MainWindow::focusPane(int by) {
    std::vector<QWidget*> panes{toolbar_, experiment_dock_, lanes_};
    for (PlotDock* dock : plots_)
        if (dock->isVisible() && !dock->visibleRegion().isEmpty()) panes.push_back(dock);
    std::erase_if(panes, [](QWidget* w) { return !w->isVisible() || !firstFocusable(w); });
    if (panes.empty()) return;
    int at = -1;
    for (size_t i = 0; i < panes.size(); ++i)
        if (focusWidget() && (panes[i] == focusWidget() || panes[i]->isAncestorOf(focusWidget()))) at = int(i);
    const int n = int(panes.size());
    firstFocusable(panes[size_t(at < 0 ? 0 : (at + by + n) % n)])->setFocus(Qt::TabFocusReason);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return QMainWindow::keyPressEvent(event);
    const EngineState state = controller_.status().state;
    if (lanes_->popoverShown())
        lanes_->hidePopover();
    else if (state == EngineState::loading || controller_.underWay())
        actions_["stop"]->trigger();
    else if (present_)
        setPresent(false);
}

/// Single-key shortcuts must not take keys from a control that uses them itself: Space presses the button in focus,
/// letters search the list in focus.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride && watched->isWidgetType()) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier;
        const bool button = qobject_cast<QAbstractButton*>(watched),
                   list = qobject_cast<QComboBox*>(watched) || qobject_cast<QAbstractItemView*>(watched);
        if (plain && ((key->key() == Qt::Key_Space && (button || list)) ||
                      (list && !key->text().isEmpty() && key->text()[0].isPrint()))) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !applying_theme_ && theme_name_ == QLatin1String("auto") &&
        toolbar_) {
        const Theme::Kind kind = Theme::kindOf(QApplication::palette());
        if (kind != Theme::instance().kind()) Theme::instance().apply(*qApp, kind, scale_);
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    setPresent(false);
    settings_.set("window/geometry", saveGeometry());
    settings_.set("window/state", saveState(1));
    settings_.set("experiment/last", QByteArray::fromStdString(experiment_to_json(controller_.experiment()).dump()));
    controller_.stop();
    if (settings_.remembers() && !controller_.run().empty()) {  // quitting loses nothing
        Session session = controller_.session();
        session.extra["view"] = viewJson();
        QDir().mkpath(QFileInfo(lastSessionPath()).absolutePath());
        const Status saved = save_session(session, lastSessionPath().toStdString());
        if (!saved) qWarning("kvasir: %s", saved.error().message().c_str());
    }
    event->accept();
}

}  // namespace kvasir::ui
