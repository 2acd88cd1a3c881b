// SPDX-License-Identifier: GPL-3.0-or-later
// From an error to one of six tints.
#pragma once

#include <QString>
#include <array>

#include "core/session/step_record.h"
#include "ui/shell/view_state.h"

namespace kvasir::ui {

/// Lower edges of tints 1..5: nats of KL(reference || lane), or change of the token's probability.
constexpr std::array<double, 5> kKlEdges = {0.01, 0.03, 0.1, 0.3, 1};
constexpr std::array<double, 5> kDpEdges = {0.01, 0.03, 0.1, 0.3, 0.6};

/// 0 (none) .. 5. `floor` is that of the token, nullptr when it is not known: an error below it has no tint.
int tintLevel(const StepRecord& record, const FloorRecord* floor, ErrorMeasure measure);

}  // namespace kvasir::ui
