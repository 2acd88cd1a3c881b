// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_model.h"

namespace kvasir::ui {

/// What is known of a run without its records: of the one that is shown, or of the next one.
struct PlannedRun {
    Experiment experiment;
    CacheShape shape;  ///< max_tokens: prompt and planned tokens
    int n_prompt = 0;
    int n_planned = 0;
};

inline PlannedRun planOf(const RunModel& run) {
    const int n_prompt = int(run.info().prompt_ids.size()), n_planned = run.info().n_planned;
    return {run.info().experiment,
            {run.n_layers(), run.n_kv_heads(), run.head_dim(), n_prompt + n_planned},
            n_prompt,
            n_planned};
}

}  // namespace kvasir::ui
