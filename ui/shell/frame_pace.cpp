// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/frame_pace.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace kvasir::ui {

int FramePace::next(double cpu_ms) {
    constexpr double kNewest = 0.3;  // weight of the last frame
    if (last_ >= 0) cost_ += kNewest * (cpu_ms - last_ - cost_);
    last_ = cpu_ms;
    return std::clamp(int(std::lround(cost_ / (kShare * n_cores_))), kShortest, kLongest);
}

double FramePace::threadCpuMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

}  // namespace kvasir::ui
