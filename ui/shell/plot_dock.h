// SPDX-License-Identifier: GPL-3.0-or-later
// The dock around a plot: title, subtitle, Following or Held, table, export, float, close.
#pragma once

#include <QDockWidget>
#include <QToolButton>

#include "ui/plots/plot_view.h"

class QLabel;

namespace kvasir::ui {

class OneLineLabel;

class PlotDock : public QDockWidget {
    Q_OBJECT
 public:
    PlotDock(const PlotEntry& entry, PlotView* plot, QWidget* parent);

    PlotView* plot() { return plot_; }
    const PlotEntry& entry() const { return entry_; }
    void showTable();
    void setCompactTitle(bool compact);  ///< below 1500 px: chip, export and close only
    void restyle();

 signals:
    void exportWanted();

 protected:
    void resizeEvent(QResizeEvent*) override;

 private:
    void updateChip(bool following);

    PlotEntry entry_;
    PlotView* plot_;
    QWidget* bar_;
    OneLineLabel* subtitle_;
    QToolButton *chip_, *table_button_, *export_button_, *float_button_, *close_button_;
};

/// Plain title bar of the other docks: title, float, close.
QWidget* makeDockTitle(QDockWidget* dock, const QString& title);

}  // namespace kvasir::ui
