// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "core/cache/cache_spec.h"

namespace kvasir {

/// Presets for keys and for values, and what is bent in each combination; empty lists leave the presets' own values.
struct SweepGrid {
    std::vector<std::string> k, v;
    std::vector<int> groups, residuals;
};

struct SweepPoint {
    std::string text;     ///< the combination as a spec, or in words when it is none
    CacheSpec spec;       ///< of no meaning when refused
    std::string refused;  ///< the parser's reason; "" when it is a scheme
};

/// Every combination once: K changes slowest, then V, group, residual. Group and residual go to quantized sides only
/// (fp16 has none), so combinations that come out as the same scheme stand there once. The text is the shortest form
/// that the parser reads as the scheme: `quanto:4,group=32`, `quanto:4,k=kivi:2`, else the long form.
std::vector<SweepPoint> sweep_points(const SweepGrid& grid);

}  // namespace kvasir
