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

/// What a number says beside those of other lanes.
enum class Compares {
    always,    ///< bytes, time: each lane's own
    in_text,   ///< only while the lane's text is the reference's
    as_error,  ///< the same, and only where something was read from quantized storage
};

/// One number that can be drawn over the tokens.
struct Measure {
    QString name;  ///< in the menu and the dock's subtitle
    QString axis;  ///< quantity, unit
    QString unit;  ///< after the values of the readout
    QString note;  ///< what thin and thick lines are
    bool log = false;
    Compares compares = Compares::always;
    bool counted = false;   ///< a mean over all tokens so far: their number stands beside it
    bool reference = true;  ///< is there a line for the reference lane
    RunningMean::Kind smoothing = RunningMean::Kind::none;
    bool raw = false;  ///< the recorded values thin below; else the readout shows the line
    /// Without a crosshair the readout shows the line's end, a mean, and its n: the newest token alone says little.
    bool newest_is_mean = false;
    bool from_zero = false;                          ///< the axis starts at zero
    double lowest = 0;                               ///< log axes: nothing below this is shown
    std::function<double(const StepRecord&)> value;  ///< NaN: there is none
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
    QString exportNote() const override;
    QString countWords(int lane) const override;
    void lanesShown() override;
    int nViews() const override { return std::max(1, int(choices_.size())); }
    QString viewName(int view) const override { return view == 0 ? QString() : choices_[size_t(view)].name; }
    bool showView(int view) override;

    LinesChart* lines() const { return chart_; }
    /// Adds a further entry to the menu of measures, e.g. a view of bars.
    void addChoice(const QString& name, std::function<void()> chosen);

 private:
    void setMeasure(int index);
    void buildLines();
    void addPrediction(const CacheSpec& spec);
    void appendLane(int lane, const LinesChart::Line& line);
    /// What is drawn for a record; NaN: a gap.
    double shownValue(int lane, const StepRecord& record) const;
    int lastShown(int lane, int from) const;  ///< index of the newest record up to `from` with a value; -1: none
    /// Why a record has no value, in one word or two.
    QString reasonForGap(int lane, const StepRecord& record) const;
    /// What of the lanes in sight is not in the picture, "" when everything is.
    QString leftOut() const;
    /// A lane's value in the readout.
    struct Value {
        ReadoutPart part;
        int position = -1;  ///< of the token it belongs to; -1: there is none
        int n_mean = 0;     ///< of this many tokens; 0: of that token alone
    };
    Value laneValue(const LinesChart::Line& line) const;
    QString leadingWords(int position, int n_mean) const;
    Readout lanesWithoutFigures() const;
    void appendFloor();
    void updateLimits();
    QCPRange yLimits(const QCPRange& x) const;
    int belowAxis(const LinesChart::Line& line) const;  ///< values that lie below what the following view shows
    std::optional<PlannedRun> plan() const;             ///< of the run that is shown, else of the next one
    Readout makePredictedReadout() const;
    Readout floorLegend(double position) const;  ///< empty without a floor

    /// Values of a lane that are not drawn, by reason.
    struct Gaps {
        int not_finite = 0, not_positive = 0, other_text = 0, nothing_read = 0;
    };
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
    std::vector<Gaps> gaps_;       // per lane
    std::vector<RunningMean> means_;
    std::vector<QCPRange> spans_;  // of finite values (log: positive ones), per lane; lower > upper: none
    double axis_low_ = 0;          // where the following view's value axis begins
    size_t n_floor_ = 0;           // of run().floors(), drawn
    RunningMean floor_mean_{RunningMean::Kind::none};
};

}  // namespace kvasir::ui
