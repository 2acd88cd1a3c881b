// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace kvasir::ui {

/// How often the window draws what comes while the engine works: both want the same cores, and a measurement of speed
/// must not show the window. As often as an eye can use where drawing is cheap or cores are many; else so seldom that
/// drawing takes kShare of the machine.
class FramePace {
 public:
    static constexpr int kShortest = 33, kLongest = 333;  ///< ms between frames
    static constexpr double kShare = 0.01;

    explicit FramePace(int n_cores) : n_cores_(n_cores) {}

    /// At the start of a frame, with the CPU time that the drawing thread has taken so far: ms until the next one.
    int next(double cpu_ms);
    /// The engine did not work since the frame before: what was drawn then says nothing.
    void idle(double cpu_ms) { last_ = cpu_ms; }
    /// CPU time of the calling thread.
    static double threadCpuMs();

 private:
    int n_cores_;
    double last_ = -1;  // cpu_ms of the frame before; -1: none
    double cost_ = 5;   // ms of a frame, smoothed; before the first one a guess
};

}  // namespace kvasir::ui
