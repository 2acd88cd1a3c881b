// SPDX-License-Identifier: GPL-3.0-or-later
// How lanes share the room there is: beside each other while every lane has three lines of text, else one behind
// another with the lane it is compared with beside it. Numbers in, numbers out: no widget.
#pragma once

#include <QSize>

namespace kvasir::ui {

constexpr int kLeastLines = 3;  ///< of text, in each lane that is in sight

struct LanesRoom {
    QSize size;  ///< for lanes, with their tabs if need be
    int n_lanes = 1;
    int gap = 5;                   ///< between two panes
    int wide = 320, narrow = 200;  ///< a pane that is read well; the narrowest one
    int full_header = 70, compact_header = 34;
    int above_text = 30;  ///< of the pane beside its header: frame and the line above the text
    int line = 20;        ///< of text
    int tabs = 30;        ///< height of the row of tabs
    int least_columns = 1, most_columns = 4;
};

struct LanesShape {
    int columns = 1;
    bool compact = false;  ///< headers of one line
    bool tabs = false;     ///< one lane and the one beside it (in two columns, or below it in one)
    int n_panes = 1;       ///< in sight
    friend bool operator==(const LanesShape&, const LanesShape&) = default;
};

LanesShape shapeOfLanes(const LanesRoom& room);

/// Height that shows one lane with its tabs and kLeastLines lines of text.
int leastHeightOfLanes(const LanesRoom& room);

}  // namespace kvasir::ui
