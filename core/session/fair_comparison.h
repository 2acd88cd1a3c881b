// SPDX-License-Identifier: GPL-3.0-or-later
// Whether lanes are compared on equal terms. Text and weights are the same for all lanes by construction; residual and
// sink can be made equal, the rest can only be named.
#pragma once

#include "core/base/result.h"
#include "core/session/experiment.h"

namespace kvasir {

/// Do all quantized keys of these lanes keep the same residual, all quantized values too, and all lanes one sink? Exact
/// sides have no residual.
bool equal_terms(const std::vector<const CacheSpec*>& lanes);

/// What may differ between lanes besides how a value is coded.
enum class Term { residual, sink, prompt, score_rule, rotation, centring, rope };

/// Every term on which these lanes differ, in the order of Term. Sides that are exact say nothing.
std::vector<Term> differing_terms(const std::vector<const CacheSpec*>& lanes);

/// For people, e.g. "prompt read exactly or from the codes".
const char* term_words(Term term);

/// Specs of the lanes that run and quantize.
std::vector<const CacheSpec*> compared_lanes(const Experiment& experiment);

/// `experiment` with the first quantized lane's residual and sink in all of them; the next lane's where a scheme cannot
/// have the first one's. The error says which lane refuses and why.
Result<Experiment> made_equal(const Experiment& experiment);

}  // namespace kvasir
