// SPDX-License-Identifier: GPL-3.0-or-later
// What all views share about how they look at a run: the crosshair token, which lanes are shown, the error shown.
#pragma once

#include <QObject>
#include <QSet>

namespace kvasir::ui {

enum class ErrorMeasure { kl, delta_probability };

class ViewState : public QObject {
    Q_OBJECT
 public:
    using QObject::QObject;
    int crosshairStep() const { return crosshair_; }  ///< -1: none
    void setCrosshairStep(int step) {
        if (step == crosshair_) return;
        crosshair_ = step;
        emit crosshairChanged(step);
    }
    bool laneShown(int lane) const { return !hidden_.contains(lane); }
    void setLaneShown(int lane, bool shown) {
        if (shown == laneShown(lane)) return;
        if (shown)
            hidden_.remove(lane);
        else
            hidden_.insert(lane);
        emit lanesShownChanged();
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
    int crosshair_ = -1;
    QSet<int> hidden_;
    ErrorMeasure measure_ = ErrorMeasure::kl;
};

}  // namespace kvasir::ui
