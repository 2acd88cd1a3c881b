// SPDX-License-Identifier: GPL-3.0-or-later
// Whether lanes are compared on equal terms. Text and weights are the same for all lanes by construction: what can
// differ is the residual and the sink.
#pragma once

#include "core/base/result.h"
#include "core/session/experiment.h"

namespace kvasir {

/// Do all quantized keys of these lanes keep the same residual, all quantized values too, and all lanes one sink? Exact
/// sides have no residual.
bool equal_terms(const std::vector<const CacheSpec*>& lanes);

/// Specs of the lanes that run and quantize.
std::vector<const CacheSpec*> compared_lanes(const Experiment& experiment);

/// `experiment` with the first quantized lane's residual and sink in all of them; the next lane's where a scheme cannot
/// have the first one's. The error says which lane refuses and why.
Result<Experiment> made_equal(const Experiment& experiment);

}  // namespace kvasir
