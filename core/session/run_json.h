// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/session/run_model.h"

namespace kvasir {

/// A run as columns per lane; floats survive exactly.
nlohmann::json run_to_json(const RunModel& run);
/// The same without its records: what is known when a run begins.
nlohmann::json run_info_to_json(const RunInfo& info, int n_layers, int n_kv_heads, int head_dim);
nlohmann::json records_to_json(const std::vector<StepRecord>& lane);  ///< columns
nlohmann::json floors_to_json(const std::vector<FloorRecord>& floors);
/// Checks every length, index and value; throws RefusedField.
RunModel read_run(const nlohmann::json& j, const Experiment& experiment);

std::string to_hex(const std::string& bytes);

}  // namespace kvasir
