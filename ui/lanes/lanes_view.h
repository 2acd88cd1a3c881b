// SPDX-License-Identifier: GPL-3.0-or-later
// All lanes side by side under one scroll bar.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <vector>

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
    const std::vector<LanePane*>& panes() const { return panes_; }
    void restyle();
    void hidePopover();
    bool popoverShown() const;

 signals:
    void laneMenuWanted(int lane, QMenu* menu);  ///< fill the menu of this lane
    void promptShownChanged(bool shown);

 protected:
    void resizeEvent(QResizeEvent*) override;

 private:
    void rebuild();
    void arrange();
    void append();
    void endTexts();
    void updateHeaders();
    void updateScroll();
    void applyScroll();
    void showPopover(LanePane* pane, int step);
    LanePane* makePane(int place);

    RunController& controller_;
    ViewState& view_;
    QWidget* ground_;
    QGridLayout* grid_;
    QScrollBar* bar_;
    TintLegend* legend_;
    TokenPopover* popover_ = nullptr;
    std::vector<LanePane*> panes_;
    std::vector<int> lanes_;  // lane of each pane
    QTimer hover_timer_, header_timer_;
    LanePane* hover_pane_ = nullptr;
    int hover_step_ = -1;
    bool following_ = true, prompt_shown_ = false, adjusting_ = false, rebuilding_ = false;
    double points_ = 11;
    int least_columns_ = 1, most_columns_ = 4, columns_ = 0;
};

}  // namespace kvasir::ui
