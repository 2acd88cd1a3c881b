// SPDX-License-Identifier: GPL-3.0-or-later
// What all views share about how they look at a run: the crosshair token, which lanes are shown, the error shown. What
// belongs to a run (a token of it, a lane of it) is kept here only, and goes with the run: a view that remembered a
// step or a lane of its own would point into the next run with it.
#pragma once

#include <QObject>
#include <QSet>
#include <utility>

namespace kvasir::ui {

enum class ErrorMeasure { kl, delta_probability };

class ViewState : public QObject {
    Q_OBJECT
 public:
    using QObject::QObject;
    int crosshairStep() const { return of_run_.crosshair; }  ///< -1: none
    void setCrosshairStep(int step) {
        if (step == of_run_.crosshair) return;
        of_run_.crosshair = step;
        emit crosshairChanged(step);
    }
    bool laneShown(int lane) const { return !of_run_.hidden.contains(lane); }
    void setLaneShown(int lane, bool shown) {
        if (shown == laneShown(lane)) return;
        if (shown)
            of_run_.hidden.remove(lane);
        else
            of_run_.hidden.insert(lane);
        emit lanesShownChanged();
    }
    /// Another run takes the place of the one that is shown. Called while that one is still there, so that whoever
    /// listens finds a run and a view of it that belong together.
    void leaveRun() {
        const OfRun before = std::exchange(of_run_, OfRun());
        if (before.crosshair != -1) emit crosshairChanged(-1);
        if (!before.hidden.isEmpty()) emit lanesShownChanged();
    }
    ErrorMeasure errorMeasure() const { return measure_; }
    void setErrorMeasure(ErrorMeasure measure) {
        if (measure == measure_) return;
        measure_ = measure;
        emit errorMeasureChanged();
    }

 signals:
    void crosshairChanged(int step);
    void lanesShownChanged();
    void errorMeasureChanged();

 private:
    struct OfRun {
        int crosshair = -1;
        QSet<int> hidden;
    };
    OfRun of_run_;
    ErrorMeasure measure_ = ErrorMeasure::kl;
};

}  // namespace kvasir::ui
