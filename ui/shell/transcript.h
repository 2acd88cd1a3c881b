// SPDX-License-Identifier: GPL-3.0-or-later
// What the lanes said, as text.
#pragma once

#include <QString>

#include "core/session/run_model.h"

namespace kvasir::ui {

/// Prompt, then every lane with its scheme and figures, then its text; invalid bytes as U+FFFD.
QString transcriptText(const RunModel& run);

}  // namespace kvasir::ui
