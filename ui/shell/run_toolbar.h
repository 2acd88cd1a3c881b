// SPDX-License-Identifier: GPL-3.0-or-later
// The row below the menu bar: model, text, run controls, mode, layouts, undo, theme, search. Run controls never give
// way; the rest moves, one after the other, into a menu at the end of the row.
#pragma once

#include <QToolBar>
#include <vector>

class QMenu;
class QPushButton;
class QTabBar;
class QToolButton;

namespace kvasir::ui {

class Actions;
class RunController;

class RunToolbar : public QToolBar {
    Q_OBJECT
 public:
    RunToolbar(RunController& controller, Actions& actions, QWidget* parent);

    QMenu* modelMenu() { return model_menu_; }
    QMenu* textMenu() { return text_menu_; }
    /// The filled button is the one a person is led to; false while the banner has its own.
    void setRunFilled(bool filled);
    void setLayoutTab(int index);  ///< 0 Explore, 1 Present
    void refresh();

 signals:
    void layoutChosen(int index);

 private:
    /// Something that can give way: its place in the row, and what stands for it in the menu.
    struct Part {
        QAction* place;
        QList<QAction*> instead;
    };
    QToolButton* addMenuButton(const QString& icon_name, QMenu* menu, const QString& tip);
    QAction* addButton(QAction* action, Qt::ToolButtonStyle style);
    void addGivingWay(QAction* place, const QList<QAction*>& instead);
    void showNames(int room);
    void fit();
    int wantedWidth() const;
    void resizeEvent(QResizeEvent* event) override;

    RunController& controller_;
    QMenu *model_menu_, *text_menu_, *overflow_menu_;
    QToolButton *model_ = nullptr, *text_ = nullptr;
    QPushButton* run_;
    QTabBar* layouts_;
    QAction* overflow_ = nullptr;
    std::vector<Part> parts_;  ///< the first to give way first
    bool fitting_ = false;
};

}  // namespace kvasir::ui
