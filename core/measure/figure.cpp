// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measure/figure.h"

#include <cmath>

namespace kvasir {

Figure make_figure(double value, const FigureCondition& condition) {
    using State = Figure::State;
    Figure f{State::measured, value, condition.n, condition.n_unread, condition.coverage, condition.floor, ""};
    if (!condition.failure.empty())
        f.state = State::failed, f.reason = condition.failure;
    else if (condition.n == 0)
        f.state = State::none, f.reason = "nothing was measured";
    else if (std::isnan(value))
        f.state = State::not_a_number, f.reason = "the logits are not numbers";
    else if (condition.n_unread >= condition.n)
        f.state = State::not_read, f.reason = "nothing was read from quantized storage";
    else if (std::abs(value) < condition.floor)
        f.state = State::inside_floor;
    return f;
}

std::string figure_text(const Figure& figure, const std::function<std::string(double)>& write,
                        const FigureWords& words) {
    switch (figure.state) {
        case Figure::State::none:
            return words.none;
        case Figure::State::measured:
            return write(figure.value);
        case Figure::State::inside_floor:
            return words.inside + write(figure.value);
        case Figure::State::not_read:
            return words.not_read;
        case Figure::State::not_a_number:
            return words.not_a_number;
        case Figure::State::failed:
            return words.failed;
    }
    return words.none;
}

}  // namespace kvasir
