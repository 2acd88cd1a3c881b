// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_toolbar.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
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
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

bool working(EngineState state) {
    return state == EngineState::loading || under_way(state);
}

}  // namespace

RunToolbar::RunToolbar(RunController& controller, Actions& actions, QMenu* main_menu, QWidget* parent)
    : QToolBar(tr("Toolbar"), parent),
      controller_(controller),
      model_menu_(new QMenu(this)),
      text_menu_(new QMenu(this)),
      run_(new QPushButton(tr("Run"))),
      stretch_(new QStackedWidget),
      bar_(new QProgressBar),
      progress_text_(new OneLineLabel),
      layouts_(new QTabBar) {
    setObjectName(QStringLiteral("toolbar"));
    setMovable(false);
    setIconSize(QSize(16, 16));
    toggleViewAction()->setVisible(false);
    model_ = addMenuButton(QStringLiteral("model"), model_menu_, tr("Model: open another, recent ones"));
    text_ = addMenuButton(QStringLiteral("prompt"), text_menu_,
                          tr("Text: prompts and passages that come with Kvasir, or your own"));
    addSeparator();

    run_->setIcon(icon(QStringLiteral("run"), QStringLiteral("on_accent")));
    run_->setObjectName(QStringLiteral("primary"));
    run_->setToolTip(actions["run"]->toolTip());
    connect(run_, &QPushButton::clicked, actions["run"], &QAction::trigger);
    addWidget(run_);
    addAction(actions["pause"]);
    addAction(actions["step"]);
    addAction(actions["stop"]);
    addSeparator();
    for (const char* id : {"teacher-forced", "free-running"}) {
        addAction(actions[id]);
        static_cast<QToolButton*>(widgetForAction(actions[id]))->setToolButtonStyle(Qt::ToolButtonTextOnly);
    }
    addWidget(makeProgress());
    layouts_->addTab(tr("Explore"));
    layouts_->addTab(tr("Present"));
    layouts_->setTabToolTip(0, actions["layout-explore"]->toolTip());
    layouts_->setTabToolTip(1, actions["layout-present"]->toolTip());
    layouts_->setExpanding(false);
    layouts_->setUsesScrollButtons(false);
    layouts_->setDrawBase(false);
    layouts_->setAccessibleName(tr("Layouts"));
    connect(layouts_, &QTabBar::currentChanged, this, &RunToolbar::layoutChosen);
    addWidget(layouts_);
    addSeparator();
    addAction(actions["undo"]);
    addAction(actions["theme-next"]);
    actions["theme-next"]->setIcon(icon(QStringLiteral("palette")));
    addAction(actions["commands"]);
    QToolButton* menu = addMenuButton(QStringLiteral("gear"), main_menu, tr("Menu (Alt+M)"));
    menu->setText(QString());
    menu->setToolButtonStyle(Qt::ToolButtonIconOnly);
    menu->setShortcut(QKeySequence(Qt::ALT | Qt::Key_M));
    menu->setAccessibleName(tr("Menu"));

    connect(&controller_, &RunController::statusChanged, this, &RunToolbar::showProgress);
    connect(&controller_, &RunController::modelChanged, this, &RunToolbar::showNames);
    connect(&controller_, &RunController::experimentChanged, this, &RunToolbar::showNames);
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

QWidget* RunToolbar::makeProgress() {
    stretch_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    stretch_->addWidget(new QWidget);
    auto* page = new QWidget;
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(8, 0, 8, 0);
    row->setSpacing(8);
    bar_->setTextVisible(false);
    bar_->setRange(0, 1000);
    bar_->setMinimumWidth(40);
    bar_->setAccessibleName(tr("Progress"));
    typeset(progress_text_, 9);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setToolTip(tr("Stops what is being done (Esc)"));
    connect(cancel, &QPushButton::clicked, this, &RunToolbar::cancelWanted);
    row->addWidget(bar_, 1);
    row->addWidget(progress_text_, 1);
    row->addWidget(cancel);
    stretch_->addWidget(page);
    return stretch_;
}

void RunToolbar::refresh() {
    showNames();
    showProgress();
}

void RunToolbar::showNames() {
    fitNames();
}

void RunToolbar::fitNames() {
    const auto model = controller_.model();
    QString name = tr("No model");
    if (model) {
        name = modelTitle(model->file().path(), model->config().weights) + QStringLiteral(" · ") +
               QString::fromStdString(model->config().weights);
    }
    setIconSize(QSize(Theme::instance().px(16), Theme::instance().px(16)));
    const int room = std::max(Theme::instance().px(90), width() / 8);
    model_->setText(fontMetrics().elidedText(name, Qt::ElideMiddle, room * 4 / 3) + QStringLiteral(" ▾"));
    layouts_->setMinimumWidth(layouts_->sizeHint().width() + Theme::instance().px(12));  // the chosen tab is bold
    text_->setText(fontMetrics().elidedText(textName(controller_.experiment()), Qt::ElideRight, room) +
                   QStringLiteral(" ▾"));
    model_->setAccessibleName(tr("Model %1").arg(name));
    text_->setAccessibleName(tr("Text %1").arg(textName(controller_.experiment())));
}

void RunToolbar::resizeEvent(QResizeEvent* event) {
    QToolBar::resizeEvent(event);
    fitNames();
}

void RunToolbar::showProgress() {
    const EngineStatus& s = controller_.status();
    if (!working(s.state)) {
        stretch_->setCurrentIndex(0);
        return;
    }
    stretch_->setCurrentIndex(1);
    bar_->setUpdatesEnabled(false);  // its setValue() would paint the whole window at once, before the lanes are told
    bar_->setValue(qRound(s.progress * 1000));
    bar_->setUpdatesEnabled(true);
    QString text;
    if (s.state == EngineState::running || s.state == EngineState::paused) {
        text = tr("%1 of %2").arg(countText(s.n_done), countText(s.n_planned));
        if (s.state == EngineState::paused)
            text += tr(" · paused");
        else if (!s.what.empty())
            text += QStringLiteral(" · ") + QString::fromStdString(s.what);
        else if (s.n_done > 1)
            text += tr(" · %1 left").arg(durationText(s.elapsed_s / s.n_done * (s.n_planned - s.n_done)));
    } else {
        text = QString::fromStdString(s.what);
        if (s.progress > 0) text += QStringLiteral(" · %1 %").arg(qRound(s.progress * 100));
    }
    progress_text_->setText(text);
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
