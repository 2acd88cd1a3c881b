// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "core/session/engine.h"
#include "core/session/run_fixture.h"
#include "core/session/run_journal.h"

namespace kvasir::test {

/// What a program leaves in the folder of its journals when it is killed after a run of the tiny model.
inline void leave_a_killed_run(const std::string& folder, int n_tokens) {
    Engine engine;
    engine.observe(std::make_shared<RunJournal>(folder));
    engine.load_model(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));
    engine.wait_until_idle();
    engine.start(experiment({"fp16", "quanto:4,residual=32"}, n_tokens));
    engine.wait_until_idle();
}

}  // namespace kvasir::test
