// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/experiment.h"

#include <cstdlib>
#include <tuple>

#include "core/session/prompt_library.h"

namespace kvasir {

bool operator==(const Experiment& a, const Experiment& b) {
    const auto all = [](const Experiment& e) {
        return std::tie(e.model_path, e.prompt, e.chat, e.score_text, e.prefill, e.n_tokens, e.mode, e.sampling,
                        e.lanes, e.reference, e.kernels, e.n_threads, e.prefill_chunk, e.layer_errors, e.sum_order,
                        e.stop_ids, e.min_tokens, e.noise_floor);
    };
    return all(a) == all(b);
}

Experiment Experiment::first_start() {
    Experiment e;
    const DemoPrompt* prompt = demo_prompt("ten-names");
    if (!prompt) std::abort();  // the file is built in
    e.prompt = prompt->text;
    e.chat = prompt->chat;
    e.n_tokens = prompt->suggested_tokens;
    e.mode = Mode::free_running;
    e.noise_floor = true;
    for (const char* text : {"fp16", "quanto:4", "quanto:2", "hadamard:2"})
        e.lanes.push_back({parse_cache_spec(text).value(), true});
    return e;
}

}  // namespace kvasir
