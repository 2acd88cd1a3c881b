// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lanes_shape.h"

#include <algorithm>

namespace kvasir::ui {

namespace {

int rowsOf(int n, int columns) {
    return (n + columns - 1) / columns;
}

int paneWidth(const LanesRoom& room, int columns) {
    return (room.size.width() - (columns - 1) * room.gap) / columns;
}

bool hasLines(const LanesRoom& room, int rows, bool compact, int height) {
    const int pane = (height - (rows - 1) * room.gap) / rows;
    const int header = compact ? room.compact_header : room.full_header;
    return pane - header - room.above_text >= kLeastLines * room.line;
}

/// Columns that keep panes wide, as people like it where height is no matter.
int likedColumns(const LanesRoom& room) {
    int columns = std::clamp((room.size.width() + room.gap) / (room.wide + room.gap), room.least_columns,
                             std::max(room.least_columns, room.most_columns));
    columns = std::clamp(columns, 1, std::max(1, room.n_lanes));  // all may be hidden
    return room.n_lanes == 4 && columns == 3 ? 2 : columns;
}

}  // namespace

LanesShape shapeOfLanes(const LanesRoom& room) {
    const int n = std::max(1, room.n_lanes);
    const int liked = likedColumns(room);
    // fewer figures before narrower panes, narrower panes before tabs
    for (int columns = liked; columns <= n; ++columns) {
        if (columns > liked && paneWidth(room, columns) < room.narrow) break;
        if (columns > liked && rowsOf(n, columns) == rowsOf(n, columns - 1)) continue;  // no higher for it
        for (const bool compact : {false, true})
            if (hasLines(room, rowsOf(n, columns), compact, room.size.height())) return {columns, compact, false, n};
    }
    const int height = room.size.height() - room.tabs;
    for (const bool compact : {false, true}) {
        if (n > 1 && paneWidth(room, 2) >= room.narrow && hasLines(room, 1, compact, height))
            return {2, compact, true, 2};
        if (n > 1 && hasLines(room, 2, compact, height)) return {1, compact, true, 2};
    }
    return {1, !hasLines(room, 1, false, height), n > 1, 1};
}

int leastHeightOfLanes(const LanesRoom& room) {
    return (room.n_lanes > 1 ? room.tabs : 0) + room.compact_header + room.above_text + kLeastLines * room.line;
}

}  // namespace kvasir::ui
