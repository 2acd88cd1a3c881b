// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/run_info.h"
#include "core/session/run_log.h"

namespace kvasir {

/// Told of a run while it is made, on the engine's thread and before anybody else: it must be quick, and what it has no
/// memory for is its own affair: nothing is thrown into the run.
class RunObserver {
 public:
    virtual ~RunObserver() = default;
    virtual void began(std::shared_ptr<const RunInfo> info, std::shared_ptr<const Model> model) = 0;
    virtual void measured(const RunRecords& records) = 0;
    /// No more records will come. `how`: "finished", "stopped" or "failed". There may be no memory left.
    virtual void ended(const char* how, const Error& why) = 0;
};

}  // namespace kvasir
