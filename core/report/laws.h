// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/model/model.h"

namespace kvasir {

/// A statement that must hold on any model, with the figure that was measured for it.
struct Law {
    std::string name, says;
    double figure = 0, bound = 0;
    bool holds = false;
};

struct Laws {
    std::vector<Law> laws;
    bool complete = true;  ///< false: cancelled; the laws checked by then are there
};

/// Runs the built-in text through the caches and checks the laws. Takes half a minute on the default model.
Result<Laws> check_laws(std::shared_ptr<const Model> model, int n_threads, const Progress& progress = {},
                        const CancelCheck& cancelled = {});

}  // namespace kvasir
