// SPDX-License-Identifier: GPL-3.0-or-later
// Which layer and side a scheme's error comes from: the specs that quantize one of them alone, or all but it.
#pragma once

#include <string>
#include <vector>

#include "core/cache/cache_spec.h"

namespace kvasir {

struct AttributionPair {
    int layer = 0;
    Side side = Side::k;
    std::string only_this, all_but_this;  ///< specs in the preset form, with per-layer overrides
};

/// For each of `layers` (all when empty) and each side that the scheme quantizes, keys first. A preset is written
/// `fp16,layers_k=5:quanto:4` and `quanto:4,layers_k=5:fp16`; a bent one (`quanto:4,residual=32`) keeps its options by
/// making everything else exact: `quanto:4,residual=32,layers_k=0-4:fp16+6-29:fp16,layers_v=0-29:fp16`. Refuses the
/// long form and specs that have per-layer overrides of their own, exact schemes, and layers that are not there.
Result<std::vector<AttributionPair>> attribution_pairs(const CacheSpec& spec, int n_layers, std::vector<int> layers);

}  // namespace kvasir
