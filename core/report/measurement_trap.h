// SPDX-License-Identifier: GPL-3.0-or-later
// One text, one scheme, four ways to measure it: most published numbers come from the first, which never reads the
// cache (scheme notes, section 7.1).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/model/model.h"
#include "core/session/experiment.h"
#include "core/session/lane_figures.h"

namespace kvasir {

struct TrapRow {
    std::string spec, protocol;
    std::string why;                ///< why this scheme cannot be measured this way; "" when it was
    int n_scored = 0;               ///< tokens, the same ones in every protocol
    double nll_mean = 0;            ///< nats
    double delta_nll = 0;           ///< nll_mean minus the reference's, measured the same way
    std::optional<double> kl_mean;  ///< against the reference measured the same way, nats; not taken of a blind forward
    Figure kl_figure;               ///< of the whole lane: the condition that kl_mean stands under
    double coverage_k = 0, coverage_v = 0;  ///< share of vectors read from quantized storage, over all decode steps
};

struct Trap {
    std::vector<TrapRow> rows;
    bool complete = true;  ///< false: cancelled; the ways measured by then are there
};

/// Every lane of the experiment (a scored text; the reference excluded) by: one blind forward; as the scheme reads its
/// prompt (exactly in Transformers and KIVI), then token by token; everything quantized as it is written (llama.cpp);
/// token by token from the first one (the PG-19 script of the Hugging Face blog). Scored are the tokens after the
/// prompt in all four.
Result<Trap> measurement_trap(const std::shared_ptr<const Model>& model, const Experiment& experiment,
                              const Progress& progress = {}, const CancelCheck& cancelled = {});

nlohmann::json trap_json(const std::vector<TrapRow>& rows);
/// `floor`: of the reference, over the same tokens.
std::string trap_table(const std::vector<TrapRow>& rows, const std::string& reference, const NoiseFloor& floor);

}  // namespace kvasir
