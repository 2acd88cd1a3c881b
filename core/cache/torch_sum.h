// SPDX-License-Identifier: GPL-3.0-or-later
// fp32 sums in the order of torch's CPU reductions (ATen's SumKernel with 8 lanes). hqq's optimizer depends on it: the
// order decides the last bit of a zero point, and where the error no longer falls.
#pragma once

#include <cstddef>

namespace kvasir {

/// A reduction along contiguous memory: 4 chains of 8 lanes, each summed in a cascade.
float torch_sum_of_row(const float* x, size_t n);

/// A reduction across rows, one column: one cascade. x holds the column's elements side by side.
float torch_sum_of_column(const float* x, size_t n);

}  // namespace kvasir
