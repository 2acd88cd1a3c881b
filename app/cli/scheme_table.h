// SPDX-License-Identifier: GPL-3.0-or-later
// What sweep and attribute share: the options of a scored text and the run over many schemes.
#pragma once

#include "app/cli/job.h"
#include "core/session/scheme_batches.h"

namespace kvasir::cli {

struct ScoredText {
    Common common;
    std::string text_file;
    int prefill = 128, tokens = 0;

    void add_to(CLI::App& sub);

    /// What came of it, with the head of its document: provenance, text, protocol, reference. `job` is
    /// told what is missing.
    struct Outcome {
        SchemeBatches batches;
        nlohmann::json head;
    };
    Result<Outcome> evaluate(const std::shared_ptr<const Model>& model, const std::vector<CacheSpec>& specs,
                             Job& job) const;
};

}  // namespace kvasir::cli
