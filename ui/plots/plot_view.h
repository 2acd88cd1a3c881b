// SPDX-License-Identifier: GPL-3.0-or-later
// What every plot is to the rest of the window, and the table of all plots: one file per plot, one row per plot.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

namespace kvasir::ui {

class RunController;
class ViewState;

/// A plot with its knobs, readout line and provenance line. The dock around it belongs to the shell.
class PlotView : public QWidget {
    Q_OBJECT
 public:
    using QWidget::QWidget;

    virtual bool following() const = 0;          ///< false: held after a zoom or pan
    virtual void setFollowing(bool follow) = 0;  ///< true fits again and follows

    /// Pictures, 170 mm wide and light whatever the theme, of a plot in or out of sight. A held view stays, and the
    /// caption says so. PNG at `scale` (1..4). On failure `error` is one sentence.
    virtual bool savePng(const QString& path, int scale, QString* error) = 0;
    virtual bool saveSvg(const QString& path, QString* error) = 0;
    virtual bool savePdf(const QString& path, QString* error) = 0;
    /// RFC 4180 table of all data, whatever is in sight, header line first; also feeds the table view.
    virtual QByteArray csv() const = 0;

    /// All that the plot can show, one view after the other, for *Export all*; for a plot that nobody looks at.
    virtual int nViews() const { return 1; }
    virtual QString viewName(int /*view*/) const { return {}; }  ///< "" where the plot's name says it
    /// Shows a view. False: what it needs was asked for and is not there yet.
    virtual bool showView(int /*view*/) { return true; }
    virtual void lookAgain() {}                         ///< others have asked the engine for pictures meanwhile
    virtual bool csvIsOfView() const { return false; }  ///< else csv() holds all views

    /// True when nothing has been drawn yet (the empty state is shown).
    virtual bool isEmpty() const = 0;

 signals:
    void updated();  ///< a picture with what came last is on the screen
    void followingChanged(bool follow);
    void subtitleChanged(const QString& subtitle);
};

struct PlotEntry {
    QString id;         ///< stable: object name of the dock, file name of exports, `error-per-token`
    QString title;      ///< "Error per token"
    QString tab;        ///< as short as a tab in a narrow column wants it
    QString icon;       ///< resources/icons name
    QString question;   ///< what it answers, for tooltips and the empty state
    bool needs_height;  ///< has a column of docks to itself while it is chosen
    std::function<PlotView*(RunController&, ViewState&, QWidget* parent)> make;
};

/// Every plot in menu order, in the language of the moment.
std::vector<PlotEntry> plotRegistry();

}  // namespace kvasir::ui
