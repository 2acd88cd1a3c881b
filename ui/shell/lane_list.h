// SPDX-License-Identifier: GPL-3.0-or-later
// The experiment's lanes as rows: in use or not, chip, name, nominal bits, menu.
#pragma once

#include <QWidget>
#include <functional>
#include <vector>

class QMenu;
class QVBoxLayout;

namespace kvasir::ui {

class ExperimentEdits;
class RowDrag;
class RunController;

class LaneList : public QWidget {
    Q_OBJECT
 public:
    LaneList(RunController& controller, ExperimentEdits& edits, QWidget* parent = nullptr);
    void rebuild();
    /// Tells a lane that is hidden in lanes and plots from one that is shown; asked when rows are made.
    void setHiddenTest(std::function<bool(int lane)> hidden);
    int focusedLane() const;  ///< lane of the row with the keyboard focus, -1: none

 signals:
    void menuWanted(int lane, QMenu* menu);
    void editWanted(int lane);
    void showWanted(int lane);  ///< a hidden lane, again

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    QWidget* makeRow(int lane);

    RunController& controller_;
    ExperimentEdits& edits_;
    QVBoxLayout* column_;
    RowDrag* drag_;
    std::function<bool(int)> hidden_;
};

}  // namespace kvasir::ui
