// SPDX-License-Identifier: GPL-3.0-or-later
// `.kvasir` session files: JSON, written atomically, unknown keys kept.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/result.h"
#include "core/session/run_model.h"

namespace kvasir {

/// An experiment, what was measured with it, and whatever else the file held (window state, keys of newer versions).
struct Session {
    Experiment experiment;
    RunModel run;          ///< empty when nothing was run
    nlohmann::json extra;  ///< object: unknown top-level keys, kept as they were; "view" belongs to the window
};

constexpr int kSessionVersion = 1;

nlohmann::json experiment_to_json(const Experiment& experiment);
Result<Experiment> experiment_from_json(const nlohmann::json& j);

/// Atomic: see write_output.
Status save_session(const Session& session, const std::string& path);
/// Every value is bounded; what is refused is named by its key, a record also by its lane and row.
Result<Session> load_session(const std::string& path);
nlohmann::json session_to_json(const Session& session);
Result<Session> session_from_json(nlohmann::json j, const std::string& where);

}  // namespace kvasir
