// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/heat_map_chart.h"
#include "ui/plots/plot_frame.h"

namespace kvasir::ui {

class LanePicker;

/// Relative error of the attention output, |o - o_ref| / |o_ref|, of one lane: layer x token.
class ErrorByLayer : public PlotFrame {
    Q_OBJECT
 public:
    ErrorByLayer(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);
    QByteArray csv() const override;
    bool isEmpty() const override;
    int nViews() const override;
    QString viewName(int view) const override;
    bool showView(int view) override;

 protected:
    void startRun() override;
    void takeRecords() override;
    Readout makeReadout() const override;
    QString makeProvenance() const override;
    QString emptyReason() const override;
    QString exportTitle() const override;
    QString countWords(int lane) const override;
    void pointedAt(double x, double y) override;
    void rowStepped(int rows) override;

 private:
    void startLane();
    void greyInsideFloor();

    LanePicker* picker_;
    HeatMapChart* map_;
    size_t n_drawn_ = 0, n_floor_ = 0;
    bool begun_ = false;
    int layer_ = -1;  // under the pointer; -1: the layer with the largest error
};

}  // namespace kvasir::ui
