// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measure/pareto.h"

#include <algorithm>
#include <cmath>

namespace kvasir {

std::vector<bool> pareto_front(std::span<const Tradeoff> points) {
    std::vector<bool> front(points.size());
    for (size_t i = 0; i < points.size(); ++i) {
        const Tradeoff& p = points[i];
        front[i] = !std::isnan(p.cost) && !std::isnan(p.error) &&
                   std::none_of(points.begin(), points.end(), [&](const Tradeoff& o) {
                       return o.cost <= p.cost && o.error <= p.error && (o.cost < p.cost || o.error < p.error);
                   });
    }
    return front;
}

}  // namespace kvasir
