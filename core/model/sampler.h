// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kvasir {

struct Sampling {
    float temperature = 0;  ///< 0: greedy
    int top_k = 0;          ///< 0: off
    float top_p = 1;        ///< 1: off
    uint64_t seed = 0;
    friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Picks the next token. Owns its seeded generator, so a run repeats on every machine.
class Sampler {
 public:
    explicit Sampler(const Sampling& settings) : settings_(settings), state_(settings.seed) {}
    /// logits (n_vocab). Ties go to the smaller id. Non-finite logits are never picked unless nothing else is there.
    int pick(std::span<const float> logits);

 private:
    double uniform();  ///< splitmix64, [0, 1)
    Sampling settings_;
    uint64_t state_;
    std::vector<int> order_;
    std::vector<double> weight_;
};

}  // namespace kvasir
