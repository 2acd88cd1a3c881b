// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace kvasir {

/// Asked at every cancel point (each layer, each tensor); true means: stop as soon as possible. May block to pause.
using CancelCheck = std::function<bool()>;

/// Share done, 0..1, and what is being done.
using Progress = std::function<void(double share, const char* what)>;

}  // namespace kvasir
