// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/torch_sum.h"

#include <algorithm>
#include <bit>

namespace kvasir {
namespace {

constexpr int kLevels = 4;

/// Sums rows of `columns` values, column by column, into `out`: runs of 2^power rows go to level 1, runs of those to
/// level 2, and so on.
template <int columns>
void cascade(const float* x, size_t n_rows, float* out) {
    const int power = std::max(4, (n_rows > 1 ? int(std::bit_width(n_rows - 1)) : 0) / kLevels);
    const size_t run = size_t{1} << power;
    float level[kLevels][columns] = {};
    size_t row = 0;
    while (row + run <= n_rows) {
        for (const size_t end = row + run; row < end; ++row)
            for (int c = 0; c < columns; ++c)
                level[0][c] += x[row * columns + c];
        for (int l = 1; l < kLevels; ++l) {
            for (int c = 0; c < columns; ++c) {
                level[l][c] += level[l - 1][c];
                level[l - 1][c] = 0;
            }
            if (row & ((run - 1) << (l * power))) break;
        }
    }
    for (; row < n_rows; ++row)
        for (int c = 0; c < columns; ++c)
            level[0][c] += x[row * columns + c];
    for (int c = 0; c < columns; ++c)
        out[c] = ((level[0][c] + level[1][c]) + level[2][c]) + level[3][c];
}

}  // namespace

float torch_sum_of_row(const float* x, size_t n) {
    constexpr int kLanes = 8, kChains = 4, kColumns = kLanes * kChains;
    float chain[kColumns];
    const size_t n_rows = n / kColumns, n_vectors = n / kLanes;
    cascade<kColumns>(x, n_rows, chain);
    for (size_t i = n_rows * kColumns; i < n_vectors * kLanes; ++i)
        chain[i % kLanes] += x[i];
    float total = 0;
    for (size_t i = n_vectors * kLanes; i < n; ++i)
        total += x[i];
    for (int lane = 0; lane < kLanes; ++lane)
        total += ((chain[lane] + chain[lane + kLanes]) + chain[lane + 2 * kLanes]) + chain[lane + 3 * kLanes];
    return total;
}

float torch_sum_of_column(const float* x, size_t n) {
    float sum = 0;
    cascade<1>(x, n, &sum);
    return sum;
}

}  // namespace kvasir
