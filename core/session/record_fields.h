// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/json_fields.h"
#include "core/session/step_record.h"

namespace kvasir {

/// Every scalar of a record once, for writing and for reading: visit(name, field, lowest, highest).
template <class Record, class Visit>
void each_field(Record& r, Visit&& visit) {
    using namespace session_limits;
    constexpr double kRounding = -0.01;  // what cannot be below 0 is so by rounding only
    visit("step", r.step, 0, kTokens);
    visit("position", r.position, 0, 2 * kTokens);
    visit("token_id", r.token_id, 0, kIds);
    visit("nll", r.nll, kRounding, kNats);
    visit("delta_logprob", r.delta_logprob, -kNats, kNats);
    visit("kl", r.kl, kRounding, kNats);
    visit("probability", r.probability, 0, 1.001);  // above 1 by rounding only
    visit("reference_probability", r.reference_probability, 0, 1.001);
    visit("top1_id", r.top1_id, 0, kIds);
    visit("top1_agrees", r.top1_agrees, 0, 1);
    visit("rank", r.rank, 0, kIds);
    visit("margin", r.margin, kRounding, kNats);
    visit("comparable", r.comparable, 0, 1);
    visit("bytes_codes", r.bytes.codes, 0, kBytes);
    visit("bytes_scales", r.bytes.scales, 0, kBytes);
    visit("bytes_zeros", r.bytes.zeros, 0, kBytes);
    visit("bytes_residual", r.bytes.residual, 0, kBytes);
    visit("bytes_padding", r.bytes.padding, 0, kBytes);
    visit("n_cached", r.n_cached, 0, 2 * kTokens);
    visit("ns_matmul", r.time.matmul, -kNanoseconds, kNanoseconds);
    visit("ns_quantize", r.time.quantize, -kNanoseconds, kNanoseconds);
    visit("ns_scores", r.time.scores, -kNanoseconds, kNanoseconds);
    visit("ns_softmax", r.time.softmax, -kNanoseconds, kNanoseconds);
    visit("ns_weighted_sum", r.time.weighted_sum, -kNanoseconds, kNanoseconds);
    visit("ns_rotate", r.time.rotate, -kNanoseconds, kNanoseconds);
    visit("ns_other", r.time.other, -kNanoseconds, kNanoseconds);
    visit("ns_step", r.step_ns, -kNanoseconds, kNanoseconds);
}

}  // namespace kvasir
