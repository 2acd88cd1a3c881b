// SPDX-License-Identifier: GPL-3.0-or-later
// The statistics block of `llama-perplexity --kl-divergence`: its names, order and spacing, so that scripts that read
// it can read Kvasir. (docs/spec/kv-cache-schemes.md, section 7.5; ggml-org/llama.cpp tools/perplexity/perplexity.cpp)
#pragma once

#include <string>
#include <vector>

#include "core/session/run_model.h"

namespace kvasir {

/// A figure with its standard error, in the figure's unit.
struct Estimate {
    double value = 0, uncertainty = 0;
};

/// What the block prints of one lane (Q) against the reference (base). Nats, and shares of 1 for probabilities; the
/// denominator of every mean is n, the scored tokens that can be compared.
struct PerplexityStatistics {
    int n = 0;
    Estimate ppl, ppl_base;         ///< exp(mean nll), uncertainty ppl * standard error of the mean nll
    double correlation = 0;         ///< of the two lanes' nll over the tokens; NaN when one of them is constant
    Estimate ln_ratio;              ///< mean of nll(Q) - nll(base), uncertainty with the covariance of the pairs
    Estimate ratio, difference;     ///< exp(ln_ratio); ppl - ppl_base, uncertainty with the same covariance
    Estimate kld;                   ///< KL(base || Q)
    Estimate dp, rms_dp;            ///< probability of the given token under Q minus under base
    Estimate same_top;              ///< share of tokens with the same most likely token; binomial
    std::vector<double> klds, dps;  ///< per token, for the quantiles
};

PerplexityStatistics perplexity_statistics(const RunModel& run, int lane);

/// The three headed parts, one block per lane that ran (the reference, being its own base, has none). The first line
/// says what is scored, which llama-perplexity does otherwise.
std::string perplexity_blocks(const RunModel& run);

}  // namespace kvasir
