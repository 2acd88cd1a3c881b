// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_to_end.h"

#include <fmt/format.h>

namespace kvasir {

Result<bool> run_to_end(Run& run, const Model& model, RunModel& measured, const Progress& progress,
                        const CancelCheck& cancelled, const CancelCheck& give_up) {
    const ModelConfig& c = model.config();
    measured.begin(std::make_shared<const RunInfo>(run.info()), c.n_layers, c.n_kv_heads, c.head_dim);
    if (const Status prompt = run.read_prompt(progress, cancelled); !prompt) {
        if (prompt.error().code == ErrorCode::interrupted) return false;
        return prompt.error();
    }
    const auto measure_floor = [&] {
        std::vector<FloorRecord> floors;
        const Status done = run.measure_floor(floors, give_up ? give_up : cancelled);
        measured.append(floors);
        return done;
    };
    for (;;) {
        std::vector<StepRecord> records;
        const Result<bool> more = run.next(records, cancelled);
        measured.append(std::move(records));
        measured.append(run.take_stops());
        if (progress)
            progress(double(run.n_done()) / run.info().n_planned,
                     fmt::format("token {} of {}", run.n_done(), run.info().n_planned).c_str());
        if (!more && more.error().code != ErrorCode::interrupted) {
            measured.remember_pieces(model.tokenizer());
            return more.error();
        }
        const bool over = !more || !*more;
        if (over && progress && run.floor_due(over)) progress(1, "measuring the noise floor");
        const Status drawn = run.floor_due(over) ? measure_floor() : Status();
        if (!drawn && drawn.error().code != ErrorCode::interrupted) return drawn.error();
        if (drawn && !over) continue;
        measured.remember_pieces(model.tokenizer());
        return more.ok() && drawn.ok();
    }
}

}  // namespace kvasir
