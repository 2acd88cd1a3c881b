// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/model/model.h"
#include "core/session/run_info.h"
#include "core/session/run_log.h"

namespace kvasir {

/// Told of a run while it is made, on the engine's thread and before anybody else: it must be quick.
class RunObserver {
 public:
    virtual ~RunObserver() = default;
    virtual void began(std::shared_ptr<const RunInfo> info, std::shared_ptr<const Model> model) = 0;
    virtual void measured(const RunRecords& records) = 0;
    /// No more records will come. `how`: "finished", "stopped" or "failed".
    virtual void ended(const std::string& how, const std::string& why) = 0;
};

}  // namespace kvasir
