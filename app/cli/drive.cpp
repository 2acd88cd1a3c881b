// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/drive.h"

#include <fmt/format.h>

#include "core/session/run_to_end.h"

namespace kvasir::cli {

Result<bool> drive(Run& run, const Model& model, RunModel& measured, ProgressLine& progress) {
    for (const RunInfo::LaneInfo& lane : run.info().lanes)
        if (lane.failed) progress.note(fmt::format("note: lane {} does not run: {}", lane.requested, lane.why));
    if (!run.info().note.empty()) progress.note("note: " + run.info().note);
    return run_to_end(
        run, model, measured, [&](double share, const char* what) { progress.show(share, what); },
        interrupted_by_user(), interrupted_by_user(2));
}

}  // namespace kvasir::cli
