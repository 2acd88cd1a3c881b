// SPDX-License-Identifier: GPL-3.0-or-later
// The one row at the top: model, text, run controls, mode, progress, layouts, search.
#pragma once

#include <QToolBar>

class QMenu;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QToolButton;

namespace kvasir::ui {

class Actions;
class OneLineLabel;
class RunController;

class RunToolbar : public QToolBar {
    Q_OBJECT
 public:
    RunToolbar(RunController& controller, Actions& actions, QMenu* main_menu, QWidget* parent);

    QMenu* modelMenu() { return model_menu_; }
    QMenu* textMenu() { return text_menu_; }
    /// The filled button is the one a person is led to; false while the banner has its own.
    void setRunFilled(bool filled);
    void setLayoutTab(int index);  ///< 0 Explore, 1 Present
    void refresh();

 signals:
    void layoutChosen(int index);
    void cancelWanted();

 private:
    QWidget* makeProgress();
    void showProgress();
    void showNames();
    void fitNames();
    QToolButton* addMenuButton(const QString& icon_name, QMenu* menu, const QString& tip);
    void resizeEvent(QResizeEvent* event) override;

    RunController& controller_;
    QMenu *model_menu_, *text_menu_;
    QToolButton *model_ = nullptr, *text_ = nullptr;
    QPushButton* run_;
    QStackedWidget* stretch_;
    QProgressBar* bar_;
    OneLineLabel* progress_text_;
    QTabBar* layouts_;
};

}  // namespace kvasir::ui
