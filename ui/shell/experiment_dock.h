// SPDX-License-Identifier: GPL-3.0-or-later
// The dock of the experiment. Where room is short it folds to a rail of icons; a click on one opens the panel over the
// lanes until a click outside or Esc.
#pragma once

#include <QDockWidget>
#include <vector>

class QFrame;
class QToolButton;
class QVBoxLayout;

namespace kvasir::ui {

class ExperimentPanel;

class ExperimentDock : public QDockWidget {
    Q_OBJECT
 public:
    explicit ExperimentDock(QWidget* window);
    ~ExperimentDock() override;
    void setPanel(ExperimentPanel* panel);

    bool folded() const { return folded_; }
    void setFolded(bool folded);
    /// Shows the panel, wherever it is, at one of its sections.
    void showPanel(int section = 0);
    bool panelIsOver() const;
    void closePanel();  ///< the one over the lanes
    void placeOverlay();
    void restyle();

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    QWidget* makeRail();

    std::vector<QToolButton*> buttons_;  // before the rail that fills it
    ExperimentPanel* panel_ = nullptr;
    QWidget *rail_, *title_, *no_title_;
    QFrame* over_;
    QVBoxLayout* over_column_;
    bool folded_ = false;
};

}  // namespace kvasir::ui
