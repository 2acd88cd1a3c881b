// SPDX-License-Identifier: GPL-3.0-or-later
// How one lane predicted one token, and how far that is from the reference's prediction.
#pragma once

#include <array>
#include <cmath>
#include <span>

namespace kvasir {

/// One likely next token: id and probability under a lane.
struct TopToken {
    int id = -1;
    float probability = 0;
    friend bool operator==(const TopToken&, const TopToken&) = default;
};

/// A lane's next-token distribution, reduced to what is asked of it more than once.
struct Prediction {
    std::span<const float> logits;  // (n_vocab)
    double log_sum = 0;             ///< log of the sum of exp(logits)
    std::array<TopToken, 5> top{};  ///< most likely first; equal logits in order of id
    double log_prob(int id) const { return double(logits[size_t(id)]) - log_sum; }
    /// Log-probability of the most likely token minus that of the second, nats.
    double margin() const { return double(logits[size_t(top[0].id)]) - double(logits[size_t(top[1].id)]); }
    /// False: some logit is NaN or infinite, and nothing can be said of any token.
    bool is_finite() const { return std::isfinite(log_sum); }
    /// Tokens that are not known to be less or equally likely than `id`: 0 = it is the most likely. NaN is never.
    int rank(int id) const;
};

/// PRECONDITION: at least 1 logit. Where there are fewer than `top` holds, the places behind them have the id -1.
Prediction predict(std::span<const float> logits);

/// Do both have the same most likely token? What is not finite agrees with nothing, itself included.
bool agree(const Prediction& a, const Prediction& b);

/// KL(reference || lane) over the whole vocabulary, nats, from full logits; never below 0. NaN when one is not finite.
double kl_divergence(const Prediction& reference, const Prediction& lane);

}  // namespace kvasir
