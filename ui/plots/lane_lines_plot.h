// SPDX-License-Identifier: GPL-3.0-or-later
// A plot of one number per lane and token, with a choice of numbers. What the numbers are is a table.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "ui/plots/lines_chart.h"
#include "ui/plots/plot_frame.h"
#include "ui/plots/running_mean.h"

class QToolButton;

namespace kvasir::ui {

/// One number that can be drawn over the tokens.
struct Measure {
    QString name;  ///< in the menu and the dock's subtitle
    QString axis;  ///< quantity, unit
    QString unit;  ///< after the values of the readout
    QString note;  ///< what thin and thick lines are
    bool log = false;
    bool reference = true;  ///< is there a line for the reference lane
    RunningMean::Kind smoothing = RunningMean::Kind::none;
    bool raw = false;        ///< the recorded values thin below; else the readout shows the line
    bool from_zero = false;  ///< the axis starts at zero
    double lowest = 0;       ///< log axes: nothing below this is shown
    std::function<double(const StepRecord&)> value;  ///< NaN: nothing is drawn there
    std::function<QString(double)> text;
    /// What is drawn thin for every planned token of a lane, before and during the run; none for most measures.
    std::function<double(const CacheSpec&, const PlannedRun&, int position)> predicted;
    /// The size below which `value` means nothing; none for most measures.
    std::function<double(const FloorRecord&)> floor;
};

class LaneLinesPlot : public PlotFrame {
    Q_OBJECT
 public:
    LaneLinesPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, std::vector<Measure> measures,
                  QWidget* parent);

    const Measure& measure() const { return measures_[measure_]; }
    void choose(int index);  ///< of measures and added choices

 protected:
    void startRun() override;
    void takeRecords() override;
    bool hasPicture() const override;
    Readout makeReadout() const override;
    Readout exportLegend() const override;
    QString exportTitle() const override;
    void lanesShown() override;

    LinesChart* lines() const { return chart_; }
    /// Adds a further entry to the menu of measures, e.g. a view of bars.
    void addChoice(const QString& name, std::function<void()> chosen);

 private:
    void setMeasure(int index);
    void buildLines();
    void addPrediction(const CacheSpec& spec);
    void appendLane(int lane, const LinesChart::Line& line);
    void appendFloor();
    void updateLimits();
    QCPRange yLimits(const QCPRange& x) const;
    std::optional<PlannedRun> plan() const;  ///< of the run that is shown, else of the next one
    Readout makePredictedReadout() const;
    Readout floorLegend(double position) const;  ///< empty without a floor

    struct Choice {
        QString name;
        std::function<void()> chosen;
    };
    std::vector<Measure> measures_;
    std::vector<Choice> choices_;
    size_t measure_ = 0;
    LinesChart* chart_;
    QToolButton* menu_ = nullptr;
    std::vector<size_t> n_drawn_;  // records drawn, per lane
    std::vector<RunningMean> means_;
    std::vector<QCPRange> spans_;  // of finite values (log: positive ones), per lane; lower > upper: none
    size_t n_floor_ = 0;           // of run().floors(), drawn
    RunningMean floor_mean_{RunningMean::Kind::none};
};

}  // namespace kvasir::ui
