// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/session/run_model.h"

namespace kvasir {

/// A run as columns per lane; floats survive exactly. run_from_json checks every length and index.
nlohmann::json run_to_json(const RunModel& run);
Result<RunModel> run_from_json(const nlohmann::json& j, const Experiment& experiment);

}  // namespace kvasir
