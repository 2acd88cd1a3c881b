// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QButtonGroup;

namespace kvasir {
class RunModel;
}

namespace kvasir::ui {

/// Checked buttons, one per lane of a run: for plots of one lane at a time.
class LanePicker : public QWidget {
    Q_OBJECT
 public:
    explicit LanePicker(QWidget* parent = nullptr);
    /// Buttons for the lanes of `run` that ran; keeps the lane chosen where it still is there.
    void setLanes(const RunModel& run, bool with_reference);
    QVector<int> lanes() const;  ///< that can be chosen
    void choose(int lane);
    int lane() const;  ///< -1: no lanes

 signals:
    void chosen(int lane);

 private:
    QButtonGroup* buttons_;
};

}  // namespace kvasir::ui
