// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measure/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/ops.h"

namespace kvasir {

int Prediction::rank(int id) const {
    const float mine = logits[size_t(id)];
    int n = 0;
    for (const float l : logits)
        n += !(l <= mine);
    return n;
}

Prediction predict(std::span<const float> logits) {
    Prediction p;
    p.logits = logits;
    p.log_sum = kernels::log_sum_exp(logits.data(), int(logits.size()));
    std::array<int, 5> best{0, 1, 2, 3, 4};
    const auto more = [&](int a, int b) {  // NaN, which has no place in an order, stands behind everything
        const float la = logits[size_t(a)], lb = logits[size_t(b)];
        if (std::isnan(la) || std::isnan(lb)) return std::isnan(la) == std::isnan(lb) ? a < b : std::isnan(lb);
        return la != lb ? la > lb : a < b;
    };
    const int n = int(logits.size()), n_best = std::min(int(best.size()), n);
    std::sort(best.begin(), best.begin() + n_best, more);
    // A later id is more likely only when its logit is larger.
    const auto next = [&](int begin) {
        return begin < n ? kernels::next_above(logits.data(), begin, n, logits[size_t(best[4])]) : n;
    };
    for (int i = next(5); i < n; i = next(i + 1)) {
        int at = 4;
        for (; at > 0 && more(i, best[size_t(at) - 1]); --at)
            best[size_t(at)] = best[size_t(at) - 1];
        best[size_t(at)] = i;
    }
    for (size_t i = 0; i < size_t(n_best); ++i)  // a vocabulary of fewer tokens leaves the others empty
        p.top[i] = {best[i], float(std::exp(p.log_prob(best[i])))};
    return p;
}

bool agree(const Prediction& a, const Prediction& b) {
    return a.is_finite() && b.is_finite() && a.top[0].id == b.top[0].id;
}

double kl_divergence(const Prediction& reference, const Prediction& lane) {
    if (!reference.is_finite() || !lane.is_finite()) return std::numeric_limits<double>::quiet_NaN();
    const double kl = kernels::kl_divergence(reference.logits.data(), reference.log_sum, lane.logits.data(),
                                             lane.log_sum, int(reference.logits.size()));
    return kl < 0 ? 0 : kl;  // NaN stays NaN
}

}  // namespace kvasir
