// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

namespace kvasir {

/// A choice with two prices, both better when smaller: bytes and error.
struct Tradeoff {
    double cost = 0, error = 0;
};

/// True for the points that no other point beats: none is at least as good in both and better in one. Equal points are
/// on the front together; a point with NaN never is, and beats nothing.
std::vector<bool> pareto_front(std::span<const Tradeoff> points);

}  // namespace kvasir
