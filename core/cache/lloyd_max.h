// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace kvasir {

/// The optimal scalar quantizer for one coordinate of a uniform unit vector.
struct Codebook {
    std::vector<float> centroids;   ///< 2^bits, ascending
    std::vector<float> thresholds;  ///< 2^bits - 1 midpoints; a value on one belongs to the upper centroid
};

/// Lloyd-Max iteration to convergence in double precision on the exact density
///   f(t) ~ (1 - t^2)^((dim - 3) / 2)
/// of TurboQuant (arXiv 2504.19874): nothing is calibrated. bits 1 to 6, dim >= 4 (more bits converge too slowly).
/// Computed once per (bits, dim).
const Codebook& lloyd_max(int bits, int dim);

}  // namespace kvasir
