// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/sampler.h"

#include <algorithm>
#include <cmath>

#include "core/base/split_mix64.h"

namespace kvasir {

namespace {

/// The largest finite logit, the smaller id on a tie; 0 when none is finite.
int greedy(std::span<const float> logits) {
    int best = -1;
    for (size_t i = 0; i < logits.size(); ++i)
        if (std::isfinite(logits[i]) && (best < 0 || logits[i] > logits[size_t(best)])) best = int(i);
    return std::max(best, 0);
}

}  // namespace

double Sampler::uniform() {
    return double(split_mix64(state_) >> 11) * 0x1p-53;  // the upper 53 bits are the fraction
}

// As in Transformers: temperature, then top-k, then top-p on the probabilities that are left.
int Sampler::pick(std::span<const float> logits) {
    const int best = greedy(logits);
    if (!(settings_.temperature > 0) || settings_.top_k == 1) return best;
    order_.clear();
    for (size_t i = 0; i < logits.size(); ++i)
        if (std::isfinite(logits[i])) order_.push_back(int(i));
    if (order_.empty()) return best;

    const double top = logits[size_t(best)], temperature = settings_.temperature;
    const auto mass_of = [&](int id) { return std::exp((double(logits[size_t(id)]) - top) / temperature); };
    const auto less_likely = [&](int a, int b) {
        const float la = logits[size_t(a)], lb = logits[size_t(b)];
        return la != lb ? la < lb : a > b;
    };
    const bool by_k = settings_.top_k > 0 && size_t(settings_.top_k) < order_.size();
    const bool by_p = settings_.top_p < 1;
    double kept = 0;
    weight_.clear();
    if (!by_k && !by_p) {
        for (const int id : order_)
            weight_.push_back(mass_of(id));
        for (const double w : weight_)
            kept += w;
    } else {
        // The likeliest ids leave a heap one by one, so only as many are ordered as are kept.
        double total = 0;
        if (!by_k)
            for (const int id : order_)
                total += mass_of(id);
        const size_t limit = by_k ? size_t(settings_.top_k) : order_.size();
        std::make_heap(order_.begin(), order_.end(), less_likely);
        auto end = order_.end();
        while (weight_.size() < limit && (by_k || kept < double(settings_.top_p) * total || weight_.empty())) {
            std::pop_heap(order_.begin(), end, less_likely);
            weight_.push_back(mass_of(*--end));
            kept += weight_.back();
        }
        std::reverse(end, order_.end());
        order_.erase(order_.begin(), end);
        if (by_k && by_p) {
            double sum = 0;
            size_t n = 0;
            while (n < weight_.size() && (n == 0 || sum < double(settings_.top_p) * kept))
                sum += weight_[n++];
            weight_.resize(n);
            kept = sum;
        }
    }
    // uniform() < 1, so the walk ends inside except for rounding in the sums.
    double rest = uniform() * kept;
    for (size_t i = 0; i < weight_.size(); ++i) {
        rest -= weight_[i];
        if (rest < 0) return order_[i];
    }
    return order_[weight_.size() - 1];
}

}  // namespace kvasir
