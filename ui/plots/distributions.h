// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "ui/plots/histogram_chart.h"
#include "ui/plots/plot_frame.h"

class QButtonGroup;
class QCheckBox;
class QComboBox;
class QSpinBox;

namespace kvasir::ui {

class LanePicker;

/// Histogram of K or V of a layer before and after rotation, with the levels a scheme has for them. Asks the engine for
/// pictures only while it is in sight.
class Distributions : public PlotFrame {
    Q_OBJECT
 public:
    Distributions(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);
    QByteArray csv() const override;
    bool isEmpty() const override { return !frame_ || frame_run_ != run().shared_info(); }

 protected:
    void startRun() override;
    void takeRecords() override {}
    Readout makeReadout() const override;
    QString makeProvenance() const override;
    QString emptyReason() const override;
    QString exportTitle() const override;
    bool tokensAlongX() const override { return false; }
    void pointedAt(double x, double y) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

 private:
    DistributionRequest wanted() const;
    void ask();
    void receive(std::shared_ptr<const DistributionFrame> frame);
    QString what() const;  ///< "V, layer 0, head 2"

    LanePicker* picker_;
    QButtonGroup* side_;
    QSpinBox* layer_;
    QComboBox* head_;
    QCheckBox* decoded_;
    HistogramChart* chart_;
    std::shared_ptr<const DistributionFrame> frame_;
    std::shared_ptr<const RunInfo> frame_run_;  // the run frame_ belongs to
    double pointed_ = 0;
    bool pointing_ = false;
};

}  // namespace kvasir::ui
