// SPDX-License-Identifier: GPL-3.0-or-later
// All lanes side by side under one scroll bar, or as tabs where that leaves no room for text.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "ui/lanes/lane_tabs.h"
#include "ui/lanes/lanes_shape.h"

class QGridLayout;
class QMenu;
class QScrollBar;

namespace kvasir::ui {

class LanePane;
class RunController;
class TintLegend;
class TokenPopover;
class ViewState;

class LanesView : public QWidget {
    Q_OBJECT
 public:
    LanesView(RunController& controller, ViewState& view, QWidget* parent = nullptr);

    void setFollowing(bool follow);
    bool following() const { return following_; }
    void setPromptShown(bool shown);
    bool promptShown() const { return prompt_shown_; }
    void setTextPoints(double points, int least_columns, int most_columns);
    int focusedLane() const;  ///< lane with the keyboard focus, -1: none
    void focusFirstLane();
    const std::vector<LanePane*>& panes() const { return panes_; }  ///< of every lane, in sight or behind a tab
    std::vector<LanePane*> panesInSight() const;
    const LanesShape& shape() const { return shape_; }
    LaneTabs* tabs() { return tabs_; }
    void restyle();
    void hidePopover();
    bool popoverShown() const;
    QSize minimumSizeHint() const override;

 signals:
    void laneMenuWanted(int lane, QMenu* menu);  ///< fill the menu of this lane
    void promptShownChanged(bool shown);

 protected:
    void resizeEvent(QResizeEvent*) override;

 private:
    // lanes_view.cpp
    void rebuild();
    QVector<LaneTabs::Lane> lanesInSight() const;
    void arrange();
    void arrangeOnce();
    void place(const std::vector<LanePane*>& in_sight);
    void append();
    void updateHeaders();
    void showPopover(LanePane* pane, int step);
    LanePane* makePane(int place);
    LanePane* paneOf(int lane) const;
    LanesRoom room() const;
    // lanes_view_scroll.cpp
    void connectScrolling();
    void updateScroll();
    void applyScroll();
    void scrolledTo(int y);
    void scrollLaneTo(LanePane* pane, int y);
    LanePane* longest() const;

    RunController& controller_;
    ViewState& view_;
    LaneTabs* tabs_;
    QWidget* ground_;
    QGridLayout* grid_;
    QScrollBar* bar_;
    TintLegend* legend_;
    TokenPopover* popover_ = nullptr;
    std::vector<LanePane*> panes_;
    LanesShape shape_;
    std::vector<LanePane*> placed_;  // as they stand in the grid
    QTimer hover_timer_;
    LanePane* hover_pane_ = nullptr;
    int hover_step_ = -1;
    /// Each lane shows its own end; else all of them show this place (LaneBody::placeAt) at the top.
    bool following_ = true;
    int place_ = 0;
    bool prompt_shown_ = false, adjusting_ = false, batch_ = false;
    bool arranging_ = false, arrange_again_ = false;
    double points_ = 11;
    int least_columns_ = 1, most_columns_ = 4;
};

}  // namespace kvasir::ui
