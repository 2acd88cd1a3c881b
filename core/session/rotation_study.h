// SPDX-License-Identifier: GPL-3.0-or-later
// What the rotation does to one layer and side of a text: the same codec without it and with it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/distribution.h"
#include "core/session/experiment.h"

namespace kvasir {

struct RotationStudy {
    bool scheme_rotates = false;  ///< which of the two the scheme itself does
    std::optional<DistributionFrame> plain, rotated;
    std::string why_missing;  ///< why one of the two cannot be: "" when both are there
};

/// Reads the first e.prefill tokens of e.prompt as a prompt (e.lanes is not asked) and pictures what lies in quantized
/// storage then. Refuses a layer or head that the model does not have, and a text of no more than e.prefill tokens.
Result<RotationStudy> study_rotation(const std::shared_ptr<const Model>& model, const Experiment& e,
                                     const CacheSpec& spec, const DistributionRequest& request,
                                     const Progress& progress = {}, const CancelCheck& cancelled = {});

}  // namespace kvasir
