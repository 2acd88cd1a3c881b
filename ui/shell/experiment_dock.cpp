// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/experiment_dock.h"

#include <QApplication>
#include <QFrame>
#include <QMouseEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/shell/experiment_panel.h"
#include "ui/shell/icons.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

ExperimentDock::ExperimentDock(QWidget* window)
    : QDockWidget(tr("Experiment"), window),
      rail_(makeRail()),
      title_(makeDockTitle(this, tr("Experiment"))),
      no_title_(new QWidget(this)),
      over_(new QFrame(window)),
      over_column_(new QVBoxLayout(over_)) {
    setObjectName(QStringLiteral("experiment"));
    setTitleBarWidget(title_);
    rail_->hide();
    no_title_->hide();
    (new QVBoxLayout(no_title_))->setContentsMargins(0, 0, 0, 0);  // no height, where a bare widget has none to tell
    over_->setObjectName(QStringLiteral("card"));
    over_->setAutoFillBackground(true);
    over_->hide();
    over_column_->setContentsMargins(1, 1, 1, 1);
    restyle();
}

ExperimentDock::~ExperimentDock() {
    closePanel();
    delete over_;  // the panel may be in it, and goes with its dock
}

QWidget* ExperimentDock::makeRail() {
    auto* rail = new QWidget(this);
    rail->setObjectName(QStringLiteral("experiment-rail"));
    auto* column = new QVBoxLayout(rail);
    column->setContentsMargins(2, 4, 2, 4);
    const struct {
        const char* icon;
        QString name;
    } sections[] = {{"model", tr("Model")}, {"prompt", tr("Text")}, {"layout", tr("Lanes")}, {"edit", tr("Sampling")}};
    for (int i = 0; i < 4; ++i) {
        auto* button = new QToolButton(rail);
        button->setIcon(icon(QLatin1String(sections[i].icon)));
        button->setToolTip(tr("Experiment: %1").arg(sections[i].name));
        button->setAccessibleName(button->toolTip());
        connect(button, &QToolButton::clicked, this, [this, i] { showPanel(i); });
        column->addWidget(button, 0, Qt::AlignHCenter);
        buttons_.push_back(button);
    }
    column->addStretch(1);
    return rail;
}

void ExperimentDock::setPanel(ExperimentPanel* panel) {
    panel_ = panel;
    setWidget(panel);
}

void ExperimentDock::restyle() {
    const int side = Theme::instance().px(18);
    for (QToolButton* button : buttons_)
        button->setIconSize(QSize(side, side));
    rail_->setFixedWidth(side + 18);
    placeOverlay();
}

void ExperimentDock::setFolded(bool folded) {
    if (folded == folded_) return;
    closePanel();
    folded_ = folded;
    setWidget(nullptr);
    if (folded) {
        over_column_->addWidget(panel_);
        setTitleBarWidget(no_title_);
        setWidget(rail_);
        title_->hide();
    } else {
        setTitleBarWidget(title_);
        setWidget(panel_);
        rail_->hide();
    }
    widget()->show();
    titleBarWidget()->show();
    panel_->show();
}

void ExperimentDock::showPanel(int section) {
    if (!folded_) {
        show();
        raise();
    } else {
        const bool was_over = panelIsOver();
        show();
        over_->show();
        placeOverlay();
        over_->raise();
        if (!was_over) qApp->installEventFilter(this);
        panel_->setFocus();
    }
    panel_->showSection(section);
}

bool ExperimentDock::panelIsOver() const {
    return over_->isVisible();
}

void ExperimentDock::closePanel() {
    if (!panelIsOver()) return;
    qApp->removeEventFilter(this);
    over_->hide();
}

void ExperimentDock::placeOverlay() {
    if (!folded_ || !over_->parentWidget()) return;
    const QPoint corner = mapTo(over_->parentWidget(), QPoint(width(), 0));
    const int room = over_->parentWidget()->width() - corner.x();
    const int wanted = std::max(Theme::instance().px(270), panel_->minimumSizeHint().width() + 2);
    over_->setGeometry(QRect(corner, QSize(std::min(room, wanted), height())));
}

bool ExperimentDock::eventFilter(QObject* watched, QEvent* event) {
    // dialogs and menus that the panel opened belong to it
    if (event->type() == QEvent::MouseButtonPress && watched->isWidgetType()) {
        const auto* pressed = static_cast<QWidget*>(watched);
        if (pressed->window() == window() && pressed != over_ && !over_->isAncestorOf(pressed) &&
            !rail_->isAncestorOf(pressed))
            closePanel();
    } else if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape &&
               !QApplication::activePopupWidget() && !QApplication::activeModalWidget()) {
        closePanel();
        return true;
    }
    return QDockWidget::eventFilter(watched, event);
}

}  // namespace kvasir::ui
