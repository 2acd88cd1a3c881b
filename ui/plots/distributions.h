// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <memory>
#include <optional>

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
    ~Distributions() override;
    QByteArray csv() const override;
    bool isEmpty() const override { return !frame_ || frame_run_ != run().shared_info(); }
    int nViews() const override;  ///< keys and values of every lane, in the layer and head that are chosen
    QString viewName(int view) const override;
    bool showView(int view) override;
    bool csvIsOfView() const override { return true; }
    void lookAgain() override { ask(); }

 protected:
    void startRun() override;
    void takeRecords() override {}
    Readout makeReadout() const override;
    QString makeProvenance() const override;
    QString emptyReason() const override;
    QString exportTitle() const override;
    QString countWords(int /*lane*/) const override { return {}; }  ///< its tokens are told before
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
    std::shared_ptr<const RunInfo> frame_run_;   // the run frame_ belongs to
    std::optional<DistributionRequest> unseen_;  ///< asked for by showView(), with nobody looking
    QPointer<PlotFeed> asked_feed_;
    double pointed_ = 0;
    bool pointing_ = false;
    bool no_bins_ = false;  ///< the newest picture cannot be drawn
};

}  // namespace kvasir::ui
