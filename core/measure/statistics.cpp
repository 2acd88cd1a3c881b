// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/split_mix64.h"

namespace kvasir {

double mean(std::span<const double> x) {
    double sum = 0;
    for (const double v : x)
        sum += v;
    return x.empty() ? 0 : sum / double(x.size());
}

double sample_deviation(std::span<const double> x) {
    if (x.size() < 2) return 0;
    const double m = mean(x);
    double squares = 0;
    for (const double v : x)
        squares += (v - m) * (v - m);
    return std::sqrt(squares / double(x.size() - 1));
}

double largest_or_nan(std::initializer_list<double> x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const double v : x) {
        if (std::isnan(v)) return v;
        largest = std::max(largest, v);
    }
    return largest;
}

double quantile(std::vector<double> x, double q) {
    if (x.empty()) return 0;
    for (const double v : x)
        if (std::isnan(v)) return v;  // it has no place in an order
    std::sort(x.begin(), x.end());
    const double at = q * double(x.size() - 1);
    const size_t low = size_t(at), high = std::min(low + 1, x.size() - 1);
    return x[low] + (at - double(low)) * (x[high] - x[low]);
}

std::pair<double, double> bootstrap_ci95(std::span<const double> x, const Bootstrap& how) {
    if (x.empty()) return {0, 0};
    const size_t n = x.size(), length = std::min(size_t(how.block), n);
    uint64_t state = how.seed;
    std::vector<double> means;
    means.reserve(size_t(how.n_samples));
    for (int s = 0; s < how.n_samples; ++s) {
        double sum = 0;
        for (size_t taken = 0; taken < n;) {
            const size_t start = split_mix64(state) % n;
            for (size_t i = 0; i < length && taken < n; ++i, ++taken)
                sum += x[(start + i) % n];
        }
        means.push_back(sum / double(n));
    }
    return {quantile(means, 0.025), quantile(means, 0.975)};
}

namespace {

/// The 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5; within 1 % from 2 degrees of freedom).
double student_975(double freedom) {
    constexpr double z = 1.959963984540054, z2 = z * z;
    const double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96,
                 g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                 g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

}  // namespace

Interval confidence_interval(std::span<const double> x, const Bootstrap& how) {
    const int fewest = std::max(kFewestValues, kFewestBlocks * how.block);
    if (int(x.size()) < fewest)
        return {.why = "only " + std::to_string(x.size()) + " values, and no interval covers below " +
                       std::to_string(fewest)};
    if (std::any_of(x.begin(), x.end(), [](double v) { return !std::isfinite(v); }))
        return {.why = "some values are not finite"};
    if (std::all_of(x.begin(), x.end(), [&](double v) { return v == x.front(); }))
        return {.why = "all values are equal"};
    const double n_blocks = double(x.size()) / how.block, middle = mean(x);
    const double wider = student_975(n_blocks - 1) / student_975(std::numeric_limits<double>::infinity()) *
                         std::sqrt(n_blocks / (n_blocks - 1));
    const auto [low, high] = bootstrap_ci95(x, how);
    return {middle - wider * (middle - low), middle + wider * (high - middle), ""};
}

double relative_error(std::span<const float> x, std::span<const float> reference) {
    // Eight sums each, which a compiler may keep in vectors: it may not reorder one.
    constexpr size_t kSums = 8;
    double error[kSums] = {}, norm[kSums] = {};
    for (size_t i = 0; i < reference.size(); i += kSums)
        for (size_t k = 0; k < std::min(kSums, reference.size() - i); ++k) {
            const double e = double(x[i + k]) - reference[i + k];
            error[k] += e * e;
            norm[k] += double(reference[i + k]) * reference[i + k];
        }
    const double total = std::accumulate(norm, norm + kSums, 0.0);
    return total > 0 ? std::sqrt(std::accumulate(error, error + kSums, 0.0) / total) : 0;
}

ValueStatistics value_statistics(std::span<const float> x) {
    ValueStatistics s;
    if (x.empty()) return s;
    double sum = 0;
    for (const float v : x)
        sum += v;
    s.mean = sum / double(x.size());
    double m2 = 0, m4 = 0, top = 0;
    for (const float v : x) {
        const double d = v - s.mean, d2 = d * d;
        m2 += d2, m4 += d2 * d2, top = std::max(top, std::abs(d));
    }
    m2 /= double(x.size()), m4 /= double(x.size());
    s.sigma = std::sqrt(m2);
    if (m2 > 0) s.kurtosis = m4 / (m2 * m2), s.max_over_sigma = top / s.sigma;
    return s;
}

std::vector<uint32_t> histogram(std::span<const float> x, double low, double high, int n_bins) {
    std::vector<uint32_t> counts(size_t(n_bins), 0);
    if (!(high > low)) return counts;
    const double per_bin = n_bins / (high - low);
    for (const float v : x) {
        if (std::isnan(v)) continue;
        counts[size_t(std::clamp((double(v) - low) * per_bin, 0.0, n_bins - 1.0))]++;
    }
    return counts;
}

}  // namespace kvasir
