// SPDX-License-Identifier: GPL-3.0-or-later
// The shared half of every plot: knobs, readout, chart, provenance, empty state; following, exports, redrawing only in
// sight.
#pragma once

#include <QLabel>
#include <QStackedWidget>

#include "ui/plots/chart.h"
#include "ui/plots/plot_export.h"
#include "ui/plots/plot_feed.h"
#include "ui/plots/plot_view.h"
#include "ui/plots/readout_line.h"
#include "ui/shell/typeset.h"
#include "ui/shell/view_state.h"

class QHBoxLayout;
class QVBoxLayout;

namespace kvasir::ui {

/// The words of a plot's row in the registry.
struct PlotTexts {
    QString id, title, question;
};

class PlotFrame : public PlotView {
    Q_OBJECT
 public:
    PlotFrame(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent);

    bool following() const override;
    void setFollowing(bool follow) override;
    bool savePng(const QString& path, int scale, QString* error) override;
    bool saveSvg(const QString& path, QString* error) override;
    bool savePdf(const QString& path, QString* error) override;
    bool isEmpty() const override;
    /// The same for every plot, so that a tab does not move the docks beside it: what needs more height scrolls.
    QSize minimumSizeHint() const override;

 protected:
    /// Is there something to draw, be it without records.
    virtual bool hasPicture() const { return !isEmpty(); }
    /// Forgets what was drawn: another run begins.
    virtual void startRun() = 0;
    /// Draws the records that are not drawn yet.
    virtual void takeRecords() = 0;
    virtual Readout makeReadout() const = 0;
    virtual QString makeProvenance() const;
    /// Why there is nothing to see although tokens were scored; "" when tokens are what is missing.
    virtual QString emptyReason() const { return {}; }
    /// What an exported picture needs beside title and caption.
    virtual Readout exportLegend() const { return {}; }
    virtual QString exportTitle() const { return texts_.title; }
    /// What the exported picture leaves out; "" when nothing.
    virtual QString exportNote() const { return {}; }
    /// How many tokens a lane's figure in this plot is of, for the caption.
    virtual QString countWords(int lane) const;
    virtual void lanesShown() {}
    virtual void themed() {}
    /// Is x of the current chart the token, so that the crosshair means something there?
    virtual bool tokensAlongX() const { return true; }
    virtual void pointedAt(double /*x*/, double /*y*/) {}
    virtual void rowStepped(int) {}

    const RunModel& run() const { return feed_.run(); }
    PlotFeed& feed() const { return feed_; }
    ViewState& view() const { return view_; }
    Chart* chart() const;
    void addChart(Chart* chart);  ///< the first one is shown
    void showChart(Chart* chart);
    QHBoxLayout* readoutRow() const { return readout_row_; }
    void addKnobs(QWidget* row);  ///< above the readout
    LaneLook look(int lane) const;

    /// Draws what is missing if the plot is in sight, else when it comes into sight.
    void catchUp();
    void catchUpUnseen();  ///< at once, in sight or not
    void startAgain();     ///< as if another run began
    void refreshReadout();

    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

 private:
    void drawMissing();
    void moveCrosshair();
    void stepCrosshair(int by);
    void restyle();
    ExportPage exportPage();

    PlotFeed& feed_;
    ViewState& view_;
    PlotTexts texts_;
    QWidget* content_;  ///< in a scroll area
    QVBoxLayout* column_;
    QHBoxLayout* readout_row_;
    ReadoutLine* readout_;
    QStackedWidget* pages_;
    QLabel* empty_;
    OneLineLabel* provenance_;
    Chart* chart_ = nullptr;
    QVector<Chart*> charts_;
    bool new_run_ = true;  ///< startRun is due
    bool stale_ = true;    ///< takeRecords is due
    bool pointing_ = false;
};

/// Index of the record of `step` in a lane; -1 when there is none.
int recordIndex(const RunModel& run, int lane, int step);
/// The position of a step's token; -1: no lane has it.
int positionOf(const RunModel& run, int step);
/// The noise floor that stands in a lane's line of a table: the reference's own; nullptr in the other lanes.
const FloorRecord* floorOf(const RunModel& run, int lane, int step);
/// The step whose token stands nearest to `position`; -1 in an empty run.
int stepNear(const RunModel& run, double position);

}  // namespace kvasir::ui
