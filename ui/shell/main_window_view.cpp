// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts, theme, type size, focus, and what is kept when the window closes.
#include <QApplication>
#include <QCloseEvent>
#include <QKeyEvent>
#include <QLayout>
#include <QMenu>
#include <QScreen>
#include <QTimer>
#include <algorithm>

#include "ui/lanes/lanes_view.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/experiment_dock.h"
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
        actions_[m == ErrorMeasure::kl ? "tint-kl" : "tint-dp"]->setChecked(true);
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
    scale_ = std::clamp(scale, 0.8, 2.0);
    if (!present_) settings_.set("look/scale", scale_);
    applyTheme();
}

void MainWindow::restoreDefaultLayout() {
    layout_->restoreDefault();
}

void MainWindow::setPresent(bool present) {
    toolbar_->setLayoutTab(present ? 1 : 0);
    actions_[present ? "layout-present" : "layout-explore"]->setChecked(true);
    if (present == present_) return;
    present_ = present;
    if (present) {
        layout_->setPresent(true);
        scale_before_present_ = scale_;
        lanes_->setTextPoints(14, 2, 2);
        setTypeScale(std::max(1.5, scale_));
    } else {
        lanes_->setTextPoints(11, 1, 4);
        setTypeScale(scale_before_present_);  // first: in the large type the plots that come back want more room
        layout_->setPresent(false);
    }
    layout_->adapt();
    updateBanner();
    lanes_->focusFirstLane();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (layout_) QTimer::singleShot(0, layout_, &DockLayout::adapt);
}

/// A layout makes its window as large as all in it wants to be, however small the screen is. Explicit minima keep it
/// from that: here they are what the layout wants and the screen has.
void MainWindow::boundMinimum() {
    const QSize frame = (frameGeometry().size() - size()).expandedTo({2, 36});  // not known before it is shown
    setMinimumSize(layout()->totalMinimumSize().boundedTo(screen()->availableSize() - frame).expandedTo({1, 1}));
}

bool MainWindow::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show ||
        event->type() == QEvent::ScreenChangeInternal)
        boundMinimum();
    return QMainWindow::event(event);
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
    if (lanes_->popoverShown())
        lanes_->hidePopover();
    else if (controller_.status().state == EngineState::loading)
        actions_["stop"]->trigger();  // a run it leaves alone: what is stopped cannot go on
    else if (present_)
        setPresent(false);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !applying_theme_ && theme_name_ == QLatin1String("auto") &&
        toolbar_) {
        const Theme::Kind kind = Theme::kindOf(QApplication::palette());
        if (kind != Theme::instance().kind()) Theme::instance().apply(*qApp, kind, scale_);
    }
}

void MainWindow::quitUnasked() {
    unasked_ = true;
    while (QWidget* dialog = QApplication::activeModalWidget())
        if (!dialog->close()) break;
    close();
    QApplication::quit();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    setPresent(false);
    settings_.set("window/geometry", saveGeometry());
    settings_.set("window/state", layout_->isOwn() ? layout_->save() : QByteArray());
    settings_.set("experiment/last", QByteArray::fromStdString(experiment_to_json(controller_.experiment()).dump()));
    if (const QString problem = files_.leave(); problem.isEmpty())
        files_.closeRuns();  // without a last session the next start offers the run
    else if (!unasked_ && files_.wouldLoseResults() && !mayReplaceResults())
        return event->ignore();
    event->accept();
}

}  // namespace kvasir::ui
