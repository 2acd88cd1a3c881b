// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kvasir {

/// Mean in double precision; 0 for nothing.
double mean(std::span<const double> x);

/// Sample standard deviation (divisor n - 1); 0 for fewer than two values.
double sample_deviation(std::span<const double> x);

/// The largest; NaN when one of them is. (std::max passes over a NaN that is not its first argument.)
double largest_or_nan(std::initializer_list<double> x);

/// Quantile q in [0, 1] with linear interpolation between order statistics; 0 for nothing, NaN when one of x is.
double quantile(std::vector<double> x, double q);

/// How a confidence interval is drawn: resamples of blocks of consecutive values.
struct Bootstrap {
    int block = 16;        ///< values in a row, so that the correlation between neighbouring tokens is kept; 1: none
    int n_samples = 2000;  ///< resamples
    uint64_t seed = 0;
};

/// 95 % confidence interval of the mean from a circular block bootstrap (Politis & Romano 1992): the 2.5 % and 97.5 %
/// quantiles of the means of the resamples, in the unit of x. With one seed and one number of values the resamples take
/// the same places, whatever the values: a report repeats, and the intervals of several lanes see the same tokens.
std::pair<double, double> bootstrap_ci95(std::span<const double> x, const Bootstrap& how = {});

/// A 95 % interval of a mean, or why there is none.
struct Interval {
    double low = 0, high = 0;
    std::string why = {};  ///< "" when there is one
    explicit operator bool() const { return why.empty(); }
};

/// bootstrap_ci95, widened about the mean by what k = n / block blocks leave out: Student's t with k - 1 degrees of
/// freedom over the normal's quantile, and k / (k - 1) of the variance. Left out for fewer values, where no resampling
/// covers, for values that are all equal, and for one that is not finite. tests/core/measure/tst_intervals.cpp holds it
/// to its 95 % on known distributions.
inline constexpr int kFewestBlocks = 3, kFewestValues = 16;
Interval confidence_interval(std::span<const double> x, const Bootstrap& how = {});

/// |x - reference| / |reference|, Euclidean norms in double precision; 0 where the reference is zero. Equal lengths.
double relative_error(std::span<const float> x, std::span<const float> reference);

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
