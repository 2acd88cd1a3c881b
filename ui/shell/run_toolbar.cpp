// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_toolbar.h"

#include <QLayout>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStyle>
#include <QTabBar>
#include <QToolButton>

#include "core/model/gguf.h"
#include "ui/shell/actions.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/prompts.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

RunToolbar::RunToolbar(RunController& controller, Actions& actions, QWidget* parent)
    : QToolBar(tr("Toolbar"), parent),
      controller_(controller),
      model_menu_(new QMenu(tr("Model"), this)),
      text_menu_(new QMenu(tr("Text"), this)),
      overflow_menu_(new QMenu(this)),
      run_(new QPushButton(tr("Run"))),
      layouts_(new QTabBar) {
    setObjectName(QStringLiteral("toolbar"));
    setMovable(false);
    toggleViewAction()->setVisible(false);
    overflow_menu_->setObjectName(QStringLiteral("toolbar-overflow"));
    model_menu_->setIcon(icon(QStringLiteral("model")));
    text_menu_->setIcon(icon(QStringLiteral("prompt")));
    model_menu_->menuAction()->setObjectName(QStringLiteral("toolbar-model"));
    text_menu_->menuAction()->setObjectName(QStringLiteral("toolbar-text"));
    model_ = addMenuButton(QStringLiteral("model"), model_menu_, tr("Model: open another, recent ones"));
    QAction* const model_place = this->actions().last();
    text_ = addMenuButton(QStringLiteral("prompt"), text_menu_,
                          tr("Text: prompts and passages that come with Kvasir, or your own"));
    QAction* const text_place = this->actions().last();
    addSeparator();

    run_->setObjectName(QStringLiteral("primary"));
    run_->setToolTip(actions["run"]->toolTip());
    run_->setEnabled(actions["run"]->isEnabled());
    connect(run_, &QPushButton::clicked, actions["run"], &QAction::trigger);
    connect(actions["run"], &QAction::changed, run_,
            [this, run = actions["run"]] { run_->setEnabled(run->isEnabled()); });
    addWidget(run_);
    for (const char* id : {"pause", "step", "stop"})
        addButton(actions[id], Qt::ToolButtonIconOnly);
    addSeparator();
    QAction* const teacher = addButton(actions["teacher-forced"], Qt::ToolButtonTextOnly);
    QAction* const own = addButton(actions["free-running"], Qt::ToolButtonTextOnly);
    auto* stretch = new QWidget;
    stretch->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(stretch);
    layouts_->addTab(tr("Explore"));
    layouts_->addTab(tr("Present"));
    layouts_->setTabToolTip(0, actions["layout-explore"]->toolTip());
    layouts_->setTabToolTip(1, actions["layout-present"]->toolTip());
    layouts_->setExpanding(false);
    layouts_->setUsesScrollButtons(false);
    layouts_->setElideMode(Qt::ElideNone);
    layouts_->setDrawBase(false);
    layouts_->setAccessibleName(tr("Layouts"));
    connect(layouts_, &QTabBar::currentChanged, this, &RunToolbar::layoutChosen);
    QAction* const layouts_place = addWidget(layouts_);
    QAction* const undo = addButton(actions["undo"], Qt::ToolButtonIconOnly);
    QAction* const theme = addButton(actions["theme-next"], Qt::ToolButtonIconOnly);
    QAction* const search = addButton(actions["commands"], Qt::ToolButtonIconOnly);
    auto* more = new QToolButton;
    more->setIcon(icon(QStringLiteral("overflow")));
    more->setPopupMode(QToolButton::InstantPopup);
    more->setMenu(overflow_menu_);
    more->setToolTip(tr("What has no room in this row"));
    more->setAccessibleName(tr("More of the toolbar"));
    overflow_ = addWidget(more);

    addGivingWay(theme, {actions["theme-next"]});
    addGivingWay(undo, {actions["undo"]});
    addGivingWay(layouts_place, {actions["layout-explore"], actions["layout-present"]});
    addGivingWay(search, {actions["commands"]});
    addGivingWay(teacher, {actions["teacher-forced"]});
    addGivingWay(own, {actions["free-running"]});
    addGivingWay(text_place, {text_menu_->menuAction()});
    addGivingWay(model_place, {model_menu_->menuAction()});

    connect(&controller_, &RunController::modelChanged, this, &RunToolbar::fit);
    connect(&controller_, &RunController::experimentChanged, this, &RunToolbar::fit);
    setRunFilled(true);
    refresh();
}

QToolButton* RunToolbar::addMenuButton(const QString& icon_name, QMenu* menu, const QString& tip) {
    auto* button = new QToolButton;
    button->setIcon(icon(icon_name));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setMenu(menu);
    button->setToolTip(tip);
    addWidget(button);
    return button;
}

/// As a widget, so that its place in the row can be empty while the action itself stays usable.
QAction* RunToolbar::addButton(QAction* action, Qt::ToolButtonStyle style) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setToolButtonStyle(style);
    button->setAccessibleName(plainText(action));
    QAction* const place = addWidget(button);
    // The place enables its button whenever it changes itself, as when it is hidden and shown again.
    const auto follow = [place, action] { place->setEnabled(action->isEnabled()); };
    follow();
    connect(action, &QAction::changed, place, follow);
    return place;
}

void RunToolbar::addGivingWay(QAction* place, const QList<QAction*>& instead) {
    parts_.push_back({place, instead});
    QStringList ids;
    for (const QAction* action : instead)
        ids << action->objectName();
    widgetForAction(place)->setProperty("kvasirInstead", ids);
}

void RunToolbar::refresh() {
    const int side = Theme::instance().px(16);
    setIconSize(QSize(side, side));
    for (QToolButton* button : findChildren<QToolButton*>())
        button->setIconSize(QSize(side, side));
    layouts_->setMinimumWidth(layouts_->sizeHint().width() + Theme::instance().px(12));  // the chosen tab is bold
    fit();
}

/// Names cut to `room` pixels; 0 leaves the icons.
void RunToolbar::showNames(int room) {
    const auto model = controller_.model();
    const QString name = model ? modelTitle(model->file().path(), model->config().weights) + QStringLiteral(" · ") +
                                     QString::fromStdString(model->config().weights)
                               : tr("No model");
    const QString text = textName(controller_.experiment());
    const auto show = [&](QToolButton* button, const QString& words, int width, Qt::TextElideMode mode) {
        button->setText(room > 0 ? button->fontMetrics().elidedText(words, mode, width) + QStringLiteral(" ▾")
                                 : QStringLiteral("▾"));
    };
    show(model_, name, room * 4 / 3, Qt::ElideMiddle);
    show(text_, text, room, Qt::ElideRight);
    model_->setAccessibleName(tr("Model %1").arg(name));
    text_->setAccessibleName(tr("Text %1").arg(text));
    model_menu_->setTitle(tr("Model: %1").arg(name));
    text_menu_->setTitle(tr("Text: %1").arg(text));
}

int RunToolbar::wantedWidth() const {
    const int gap = layout()->spacing();
    int width = 2 * 8 + 6;  // the style sheet's padding
    for (QAction* action : actions()) {
        if (!action->isVisible()) continue;
        const QWidget* widget = widgetForAction(action);
        width += std::max(widget->sizeHint().width(), widget->minimumWidth()) + gap;
    }
    return width;
}

/// Names get shorter first, then parts leave the row, until everything that is left has its full width.
void RunToolbar::fit() {
    if (fitting_ || !overflow_) return;
    fitting_ = true;
    for (const Part& part : parts_)
        part.place->setVisible(true);
    overflow_->setVisible(false);
    overflow_menu_->clear();
    const Theme& theme = Theme::instance();
    for (const int room : {std::max(theme.px(90), width() / 8), theme.px(90), theme.px(50)}) {
        showNames(room);
        if (wantedWidth() <= width()) break;
    }
    QList<QAction*> left;
    for (const Part& part : parts_) {
        if (wantedWidth() <= width()) break;
        overflow_->setVisible(true);
        part.place->setVisible(false);
        left = part.instead + left;
    }
    overflow_menu_->addActions(left);
    fitting_ = false;
}

void RunToolbar::resizeEvent(QResizeEvent* event) {
    QToolBar::resizeEvent(event);
    fit();
}

void RunToolbar::setRunFilled(bool filled) {
    run_->setObjectName(filled ? QStringLiteral("primary") : QStringLiteral("run"));
    run_->setIcon(icon(QStringLiteral("run"), filled ? QStringLiteral("on_accent") : QStringLiteral("text")));
    run_->style()->unpolish(run_);
    run_->style()->polish(run_);
}

void RunToolbar::setLayoutTab(int index) {
    const QSignalBlocker quiet(layouts_);
    layouts_->setCurrentIndex(index);
}

}  // namespace kvasir::ui
