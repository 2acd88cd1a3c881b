// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>

namespace kvasir::ui {

/// Follows one lane's values and gives what the thick line shows. A NaN is passed on and not counted.
class RunningMean {
 public:
    enum class Kind {
        none,        ///< the value itself
        mean,        ///< of the last 32
        harmonic,    ///< of the last 32: for rates, tokens over the time they took
        exp_of_all,  ///< exp of the mean since the start: perplexity of negative log-likelihoods
    };
    static constexpr int kWindow = 32;  // tokens

    explicit RunningMean(Kind kind) : kind_(kind) {}

    double add(double value) {
        if (std::isnan(value) || kind_ == Kind::none) return value;
        if (kind_ == Kind::harmonic) value = 1 / value;
        if (kind_ == Kind::exp_of_all) {
            total_ += value, ++n_;
            return std::exp(total_ / n_);
        }
        ring_[size_t(n_ % kWindow)] = value;
        ++n_;
        const int n = n_ < kWindow ? n_ : kWindow;
        double sum = 0;  // summed anew: a running sum would drift
        for (int i = 0; i < n; ++i)
            sum += ring_[size_t(i)];
        return kind_ == Kind::harmonic ? n / sum : sum / n;
    }

    /// Values in the newest mean.
    int n() const { return kind_ == Kind::exp_of_all || n_ < kWindow ? n_ : kWindow; }

 private:
    Kind kind_;
    std::array<double, kWindow> ring_{};
    double total_ = 0;
    int n_ = 0;
};

}  // namespace kvasir::ui
