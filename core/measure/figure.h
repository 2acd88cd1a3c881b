// SPDX-License-Identifier: GPL-3.0-or-later
// A measured figure and its condition are one value, with one formatter: no table, document or view can show the one
// without the other.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kvasir {

struct Figure {
    enum class State {
        none,          ///< nothing was measured (yet)
        measured,      ///< `value` may be shown and ranked
        inside_floor,  ///< the same, but it is not above what the reference moves by itself
        not_read,      ///< the lane quantizes, but nothing it was measured on came from quantized storage
        not_a_number,  ///< the lane's logits, or the reference's, were not
        failed         ///< the lane does not run or stopped: `reason` says why
    };
    State state = State::none;
    double value = 0;
    int n = 0;                       ///< tokens it is taken over
    int n_unread = 0;                ///< of them, predicted before anything came from quantized storage: without error
    std::optional<double> coverage;  ///< share of the vectors read that were quantized; nothing: exact, or not recorded
    double floor = 0;                ///< in the unit of `value`; 0: not measured
    std::string reason;              ///< why there is no number; "" where there is one

    /// Only such a figure is shown as one, ranked, or called best.
    bool is_number() const { return state == State::measured || state == State::inside_floor; }
    /// What is not a plain measured figure is grey.
    bool grey() const { return state != State::measured; }
};

/// What decides whether a value is a figure at all.
struct FigureCondition {
    int n = 0;
    int n_unread = 0;  ///< n: nothing that was measured came from quantized storage, though the lane quantizes
    std::optional<double> coverage = {};
    double floor = 0;
    std::string failure = {};  ///< why the lane has no figures; "" when it has
};

/// The value under its condition: failed before none before not a number before not read before inside the floor.
Figure make_figure(double value, const FigureCondition& condition);

/// The words for what is no plain number. The window hands in translated ones; the defaults are the command line's.
struct FigureWords {
    std::string none = "–", not_read = "0 % read", not_a_number = "not a number", failed = "failed";
    std::string inside = "~";  ///< in front of a figure inside the floor; "" where it is grey instead
};

/// The figure in words: the number as `write` gives it, or why there is none.
std::string figure_text(const Figure& figure, const std::function<std::string(double)>& write,
                        const FigureWords& words = {});

}  // namespace kvasir
