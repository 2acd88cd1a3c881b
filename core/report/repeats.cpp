// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/repeats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/measure/statistics.h"
#include "core/session/lane_figures.h"

namespace kvasir {
namespace {

nlohmann::json spread(const std::vector<double>& x) {
    if (std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) return nullptr;
    return {{"mean", mean(x)},
            {"sd", sample_deviation(x)},
            {"min", *std::min_element(x.begin(), x.end())},
            {"max", *std::max_element(x.begin(), x.end())}};
}

}  // namespace

void Repeats::add(const RunModel& run) {
    lanes_.resize(size_t(run.n_lanes()));
    for (int i = 0; i < run.n_lanes(); ++i) {
        Lane& lane = lanes_[size_t(i)];
        if (!run.failure(i).empty()) lane.failure = run.failure(i);
        const LaneFigures f = lane_figures(run, i);
        const auto number = [](const Figure& figure) {
            return figure.is_number() ? figure.value : std::numeric_limits<double>::quiet_NaN();
        };
        lane.nll_means.push_back(number(f.nll));
        lane.kl_means.push_back(number(f.kl));
        const auto& records = run.lane(i);
        for (size_t t = 0; t < records.size(); ++t) {
            if (t == lane.range.size()) lane.range.emplace_back(records[t].nll, records[t].nll);
            auto& [low, high] = lane.range[t];
            low = std::min(low, records[t].nll);
            high = std::max(high, records[t].nll);
        }
    }
    ++n_;
}

std::pair<float, float> Repeats::nll_range(int lane, int step) const {
    return lanes_[size_t(lane)].range[size_t(step)];
}

nlohmann::json Repeats::lane(int index) const {
    const Lane& lane = lanes_[size_t(index)];
    if (!lane.failure.empty()) return {{"n", n_}, {"why", lane.failure}};
    std::vector<double> widths;
    for (const auto& [low, high] : lane.range)
        widths.push_back(double(high) - low);
    return {{"n", n_},
            {"nll_mean", spread(lane.nll_means)},
            {"kl_mean", spread(lane.kl_means)},
            {"nll_range_per_token",
             {{"median", quantile(widths, 0.5)}, {"p99", quantile(widths, 0.99)}, {"max", quantile(widths, 1)}}}};
}

}  // namespace kvasir
