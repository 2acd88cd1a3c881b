// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/run_conditions.h"

#include "core/base/sha256.h"
#include "core/report/provenance.h"

namespace kvasir {

RunConditions run_conditions(const RunModel& run) {
    RunConditions c;
    c.program = "Kvasir " + provenance(nullptr, KernelPath::fused)["kvasir"]["version"].get<std::string>();
    if (run.empty()) return c;
    const RunInfo& info = run.info();
    const Experiment& e = info.experiment;
    c.model = info.model_name.empty() ? e.model_path.substr(e.model_path.find_last_of('/') + 1)
                                      : info.model_name + (info.model_weights.empty() ? "" : " ") + info.model_weights;
    c.model_sha256 = info.model_sha256;
    c.text_sha256 = sha256_hex(e.prompt.data(), e.prompt.size());
    c.mode = e.mode == Mode::teacher_forced ? "teacher-forced" : "free-running";
    c.kernels = e.kernels == KernelPath::fused ? "fused" : "reference";
    c.simd = info.simd;
    c.n_threads = info.n_threads;
    c.sampled = !e.score_text;
    c.sampling = e.sampling;
    const std::vector<StepRecord>& records = run.lane(e.reference);
    c.n_scored = int(records.size());
    c.first_scored = records.empty() ? int(info.prompt_ids.size()) : records.front().position;
    return c;
}

LaneConditions lane_conditions(const RunModel& run, int lane) {
    LaneConditions c;
    c.exact = run.info().experiment.lanes[size_t(lane)].spec.exact();
    c.failure = run.failure(lane);
    if (!c.failure.empty()) return c;
    const std::vector<StepRecord>& records = run.lane(lane);
    c.n_scored = int(records.size());
    for (const StepRecord& r : records) {
        c.n_compared += r.comparable;
        c.n_unread += r.comparable && run.nothing_read(lane, r);
    }
    if (records.empty() || c.exact) return c;
    const Coverage& reads = records.back().coverage;
    c.coverage_known = reads.k_total + reads.v_total > 0;
    c.coverage_k = reads.k(), c.coverage_v = reads.v();
    return c;
}

}  // namespace kvasir
