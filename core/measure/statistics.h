// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kvasir {

/// Mean in double precision; 0 for nothing.
double mean(std::span<const double> x);

/// Quantile q in [0, 1] with linear interpolation between order statistics; 0 for nothing.
double quantile(std::vector<double> x, double q);

/// 95 % confidence interval of the mean from a circular block bootstrap: blocks of `block` consecutive values keep the
/// correlation between neighbouring tokens. Seeded, so a report repeats. (Politis & Romano 1992.)
std::pair<double, double> bootstrap_ci95(std::span<const double> x, int block = 16, int n_samples = 2000,
                                         uint64_t seed = 0);

/// Moments of a set of values.
struct ValueStatistics {
    double mean = 0, sigma = 0;
    double kurtosis = 0;        ///< fourth standardized moment: 3 for a normal distribution
    double max_over_sigma = 0;  ///< largest |x - mean| / sigma
};
ValueStatistics value_statistics(std::span<const float> x);

/// Counts per bin of [low, high], n_bins equal bins; values outside go to the first or last bin.
std::vector<uint32_t> histogram(std::span<const float> x, double low, double high, int n_bins);

}  // namespace kvasir
