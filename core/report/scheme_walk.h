// SPDX-License-Identifier: GPL-3.0-or-later
// A random walk through the space of cache schemes: what the parser accepts must work, fused kernels and dequantized
// values must agree, and what cannot be stored must be refused with a sentence.
#pragma once

#include <cstdint>
#include <string>

namespace kvasir {

struct SchemeWalk {
    int n_points = 0;   ///< schemes that could be stored and were compared
    int n_refused = 0;  ///< passed by: refused by the parser, the geometry or a flush
    double worst = 0;   ///< largest deviation between the two kernel paths, in units of the bound
    std::string worst_spec;
    std::string problem;  ///< "" or what went wrong: a value that is not finite, a refusal without words
};

/// Each point: a random spec on random vectors (2 KV heads, head sizes 32 to 128) that is prompted, decoded and read by
/// both kernel paths. Bound of a score: 3 * 2^-11 * sqrt(head_dim) * |q| * |k|, of a weighted sum: 3 * 2^-11 * sum of
/// weights * |v|, norms of the largest vector, a quarter
/// more allowed for (two fp16 roundings per value that fused kernels leave out, and the sum's
/// own: docs/decisions).
SchemeWalk walk_schemes(int n_points, uint64_t seed);

}  // namespace kvasir
