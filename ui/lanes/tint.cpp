// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/tint.h"

#include <cmath>

namespace kvasir::ui {

int tintLevel(const StepRecord& record, const FloorRecord* floor, ErrorMeasure measure) {
    if (!record.comparable) return 0;  // the contexts differ: there is no error to show
    const bool kl = measure == ErrorMeasure::kl;
    const double error = kl ? record.kl : std::fabs(double(record.probability) - double(record.reference_probability));
    if (floor) {
        // how far the token's probability moves with the reference in the noise floor's pass
        const double moves = double(record.reference_probability) * std::expm1(double(floor->delta_logprob));
        if (error < (kl ? double(floor->kl) : std::fabs(moves))) return 0;
    }
    int level = 0;
    for (const double edge : kl ? kKlEdges : kDpEdges)
        if (!(error < edge)) ++level;  // no number at all is the worst error
    return level;
}

}  // namespace kvasir::ui
