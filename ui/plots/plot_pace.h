// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>
#include <algorithm>

namespace kvasir::ui {

/// When the plots may take what has come. The first records of a run at once; then every few frames, because drawing a
/// plot costs as much as all the words of a frame; but never later than kLongest, however slow the frames are.
class PlotPace {
 public:
    static constexpr int kFrames = 4;
    static constexpr int kLongest = 400;  ///< ms: twice a second with room for a late timer

    void begin() { shown_at_ = -1; }
    /// Milliseconds until what came may be shown; 0: now.
    int wait(qint64 now_ms, int frame_interval) const {
        if (shown_at_ < 0) return 0;
        return int(std::max<qint64>(0, shown_at_ + std::min(kFrames * frame_interval, kLongest) - now_ms));
    }
    void shown(qint64 now_ms) { shown_at_ = now_ms; }

 private:
    qint64 shown_at_ = -1;  // -1: nothing of this run yet
};

}  // namespace kvasir::ui
