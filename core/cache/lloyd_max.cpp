// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/lloyd_max.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace kvasir {
namespace {

constexpr int kNodes = 40;

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method on the Legendre polynomial.
struct Quadrature {
    double node[kNodes], weight[kNodes];
    Quadrature() {
        for (int i = 0; i < kNodes; ++i) {
            double x = std::cos(std::numbers::pi * (i + 0.75) / (kNodes + 0.5)), slope = 1;
            for (int round = 0; round < 100; ++round) {
                double p0 = 1, p1 = x;
                for (int n = 2; n <= kNodes; ++n) {
                    const double p2 = ((2 * n - 1) * x * p1 - (n - 1) * p0) / n;
                    p0 = p1, p1 = p2;
                }
                slope = kNodes * (x * p1 - p0) / (x * x - 1);
                const double step = p1 / slope;
                x -= step;
                if (std::abs(step) < 1e-16) break;
            }
            node[i] = x;
            weight[i] = 2 / ((1 - x * x) * slope * slope);
        }
    }
};

/// Mean of t over [a, b] under (1 - t^2)^p.
double mean_between(double a, double b, double p) {
    static const Quadrature q;
    double mass = 0, moment = 0;
    for (int i = 0; i < kNodes; ++i) {
        const double t = (b - a) / 2 * q.node[i] + (a + b) / 2, f = q.weight[i] * std::pow(1 - t * t, p);
        mass += f;
        moment += t * f;
    }
    return mass > 0 ? moment / mass : (a + b) / 2;
}

Codebook compute(int bits, int dim) {
    const double p = (dim - 3) / 2.0;
    const size_t half = size_t(1) << (bits - 1);
    std::vector<double> c(half);
    for (size_t i = 0; i < half; ++i)
        c[i] = 3 / std::sqrt(double(dim)) * double(2 * i + 1) / double(2 * half);
    // The interval that reaches to 1 is cut where the density has fallen to nothing: quadrature needs the rest.
    const double last = std::min(1.0, 12 / std::sqrt(double(dim)));
    for (int round = 0; round < 20000; ++round) {
        double moved = 0, low = 0;
        std::vector<double> next(half);
        for (size_t i = 0; i < half; ++i) {
            const double high = i + 1 < half ? (c[i] + c[i + 1]) / 2 : last;
            next[i] = mean_between(low, high, p);
            moved = std::max(moved, std::abs(next[i] - c[i]));
            low = high;
        }
        c = std::move(next);
        if (moved < 1e-15) break;
    }
    std::vector<double> all;
    for (size_t i = half; i-- > 0;)
        all.push_back(-c[i]);
    all.insert(all.end(), c.begin(), c.end());
    Codebook book;
    for (size_t i = 0; i < all.size(); ++i) {
        book.centroids.push_back(float(all[i]));
        if (i > 0) book.thresholds.push_back(float((all[i - 1] + all[i]) / 2));
    }
    return book;
}

}  // namespace

const Codebook& lloyd_max(int bits, int dim) {
    static std::mutex mutex;
    static std::map<std::pair<int, int>, Codebook> books;
    const std::lock_guard lock(mutex);
    const auto known = books.find({bits, dim});
    return known != books.end() ? known->second : books.emplace(std::pair{bits, dim}, compute(bits, dim)).first->second;
}

}  // namespace kvasir
