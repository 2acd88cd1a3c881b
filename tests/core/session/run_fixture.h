// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtTest>

#include "core/session/prompt_library.h"
#include "core/session/run_to_end.h"
#include "support/default_model.h"
#include "support/golden.h"

namespace kvasir::test {

inline std::shared_ptr<const Model> load(const std::string& path) {
    auto model = Model::load(path);
    if (!model) qFatal("%s", model.error().message().c_str());
    return *model;
}

/// Small and quick, no default model needed.
inline std::shared_ptr<const Model> tiny_model() {
    return load(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));
}

inline Experiment experiment(const std::vector<std::string>& specs, int n_tokens) {
    Experiment e;
    for (const std::string& text : specs)
        e.lanes.push_back({parse_cache_spec(text).value(), true});
    // A given text, so that no end-of-text token of a tiny model ends the run early.
    for (int i = 0; i < 12; ++i)
        e.prompt += "the lighthouse keeper wrote down the names. ";
    e.score_text = true;
    e.prefill = 8;
    e.n_tokens = n_tokens;
    e.n_threads = 2;
    return e;
}

/// Carries the experiment out and returns what was measured.
inline RunModel carry_out(const std::shared_ptr<const Model>& model, const Experiment& e) {
    auto run = Run::create(model, e);
    if (!run) qFatal("%s", run.error().message().c_str());
    RunModel measured;
    if (const auto done = run_to_end(**run, *model, measured); !done) qFatal("%s", done.error().message().c_str());
    return measured;
}

}  // namespace kvasir::test
