// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/drive.h"

#include <fmt/format.h>

namespace kvasir::cli {

Result<bool> drive(Run& run, const Model& model, RunModel& measured, ProgressLine& progress) {
    const ModelConfig& c = model.config();
    measured.begin(std::make_shared<const RunInfo>(run.info()), c.n_layers, c.n_kv_heads, c.head_dim);
    for (const RunInfo::LaneInfo& lane : run.info().lanes)
        if (lane.failed) progress.note(fmt::format("note: lane {} does not run: {}", lane.requested, lane.why));
    if (!run.info().note.empty()) progress.note("note: " + run.info().note);

    const CancelCheck stop = interrupted_by_user();
    const Status prompt = run.read_prompt([&](double share, const char* what) { progress.show(share, what); }, stop);
    if (!prompt) return prompt.error();
    for (;;) {
        std::vector<StepRecord> records;
        const Result<bool> more = run.next(records, stop);
        measured.append(std::move(records));
        progress.show(double(run.n_done()) / run.info().n_planned,
                      fmt::format("token {} of {}", run.n_done(), run.info().n_planned));
        if (!more && more.error().code != ErrorCode::interrupted) return more.error();
        if (more && *more) continue;
        measured.remember_pieces(model.tokenizer());
        return more.ok();
    }
}

}  // namespace kvasir::cli
