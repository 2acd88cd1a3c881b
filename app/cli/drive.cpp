// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/drive.h"

#include <fmt/format.h>

#include "core/session/lane_figures.h"
#include "core/session/run_to_end.h"

namespace kvasir::cli {

Result<bool> drive(Run& run, const Model& model, RunModel& measured, ProgressLine& progress, Job& job) {
    for (const RunInfo::LaneInfo& lane : run.info().lanes)
        if (lane.failed) progress.note(fmt::format("note: lane {} does not run: {}", lane.requested, lane.why));
    if (!run.info().note.empty()) job.note(run.info().note);
    const LastPass noise_floor;
    const auto complete = run_to_end(
        run, model, measured, [&](double share, const char* what) { progress.show(share, what); },
        interrupted_by_user(), LastPass::given_up());
    if (!complete && (run.n_done() == 0)) return complete.error();
    if (!complete) job.stop(complete.error());
    if (complete && !*complete) job.interrupted();
    if (!all_lanes_measured(measured)) job.missing();
    return complete && *complete;
}

Status needs_chat_template(const Model& model) {
    if (model.chat_template().kind() != ChatTemplate::Kind::none) return {};
    return Error{ErrorCode::input, "no chat template that Kvasir knows", model.file().path(),
                 "only ChatML templates are recognised",
                 "Leave out --chat and write the turns into --prompt as the model expects them."};
}

}  // namespace kvasir::cli
