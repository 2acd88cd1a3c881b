// SPDX-License-Identifier: GPL-3.0-or-later
// RoPE of every position of a cache: for keys that are stored before it.
#pragma once

#include <functional>
#include <vector>

namespace kvasir {

/// Writes cos and sin of one position for each of the head_dim/2 pairs.
using RopeAt = std::function<void(int position, float* cos, float* sin)>;

class RopeTable {
 public:
    RopeTable(const RopeAt& rope, int head_dim, int max_tokens);

    /// x (head_dim) of token `position`, rotate-half order. Aborts beyond max_tokens.
    void apply(float* x, int position) const;
    void undo(float* x, int position) const;

 private:
    size_t first_of(int position) const;

    int head_dim_;
    std::vector<float> cos_, sin_, minus_sin_;  ///< (max_tokens, head_dim/2)
};

}  // namespace kvasir
