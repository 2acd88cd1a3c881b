// SPDX-License-Identifier: GPL-3.0-or-later
// Where the docks stand. Until a person moves one, they follow the room there is, counted in type: wide windows show
// every plot, narrower ones a column of three with the others behind tabs, low ones a column of tabs; the experiment
// folds to a rail. A plot that needs height has the column to itself while it is chosen.
#pragma once

#include <QObject>
#include <QSize>
#include <vector>

class QDockWidget;
class QMainWindow;

namespace kvasir::ui {

class ExperimentDock;
class PlotDock;

enum class Arrangement { wide, stacked, tabs };

/// What there is room for in a window of `size` at this type scale.
Arrangement arrangementFor(QSize size, double type_scale);
/// Does the experiment fold to its rail there.
bool experimentFolds(QSize size, double type_scale);

class DockLayout : public QObject {
    Q_OBJECT
 public:
    DockLayout(QMainWindow& window, ExperimentDock& experiment, const std::vector<PlotDock*>& plots);

    /// Every dock shown and in its place; from here on the layout follows the window again.
    void restoreDefault();
    /// After the window or the type changed size.
    void adapt();
    void setPresent(bool present);
    bool present() const { return present_; }

    /// A person moved a dock: nothing is arranged any more until restoreDefault().
    bool isOwn() const { return own_; }
    QByteArray save();
    void restoreOwn(const QByteArray& state);

 private:
    void place(bool show_all);
    void placePlots(bool show_all);
    void placePresent();
    void shareRoom();
    void watch(QDockWidget* dock);
    void giveColumn();
    PlotDock* plot(const char* id) const;

    QMainWindow& window_;
    ExperimentDock& experiment_;
    const std::vector<PlotDock*>& plots_;
    Arrangement arrangement_ = Arrangement::stacked;
    std::vector<QDockWidget*> gave_way_;  ///< hidden while a plot that needs height is chosen
    QByteArray before_present_;
    int shared_width_ = 0;  ///< of the column of plots, as it was shared last, at this type scale
    double shared_scale_ = 0;
    bool placing_ = false, own_ = false, present_ = false, placed_ = false, looking_ = false;
};

}  // namespace kvasir::ui
