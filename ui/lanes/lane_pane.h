// SPDX-License-Identifier: GPL-3.0-or-later
// One lane: its header over its text, in a frame that shows the focus.
#pragma once

#include <QWidget>

#include "core/session/lane_tally.h"
#include "ui/lanes/lane_body.h"
#include "ui/lanes/lane_header.h"

namespace kvasir::ui {

class RunController;

class LanePane : public QWidget {
    Q_OBJECT
 public:
    LanePane(RunController& controller, ViewState& view, QWidget* parent);

    /// Lane of the run that is shown, or of the experiment while there is none.
    void setLane(int lane);
    int lane() const { return body_->lane(); }
    LaneHeader* header() { return header_; }
    LaneBody* body() { return body_; }
    void updateHeader();
    void restyle();

 protected:
    void paintEvent(QPaintEvent*) override;

 private:
    void updateNote();

    RunController& controller_;
    LaneHeader* header_;
    LaneBody* body_;
    LaneTally tally_;
};

}  // namespace kvasir::ui
