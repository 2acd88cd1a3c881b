// SPDX-License-Identifier: GPL-3.0-or-later
// What one run measured: the records by lane and the figures derived from them. Views and exports read from here only,
// so that the CSV is what the plot shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/tokenizer.h"
#include "core/session/run_info.h"
#include "core/session/step_record.h"

namespace kvasir {

/// Running figures of one lane.
struct LaneSummary {
    int n_scored = 0;      ///< records; 0 for a lane that failed or stopped
    int n_comparable = 0;  ///< of them with an error against the reference
    int n_unread = 0;      ///< of those: predicted before anything was read from quantized storage, so without error
    double nll_mean = 0, ppl = 0;
    double dnll_mean = 0;
    double kl_mean = 0, kl_median = 0, kl_p99 = 0, kl_max = 0;
    double top1_agreement = 0;     ///< share 0..1
    double rms_dp = 0;             ///< of the given token's probability
    double tokens_per_second = 0;  ///< decode, from the lane's own time split
    int first_flip = -1;           ///< step of the first top-1 that differs from the reference's; -1: none
    float first_flip_margin = 0;   ///< the reference's margin there
    ByteLedger bytes;              ///< newest
    double effective_bits = 0;     ///< bits per cached value, residual included
    Coverage coverage;             ///< newest
    Coverage compared_coverage;    ///< up to the last token that compares
};

/// How far the reference moves when its sums are taken in another order: nothing below it means anything.
struct NoiseFloor {
    int n = 0;                           ///< tokens it was measured on; 0: not measured
    double kl_mean = 0;                  ///< KL(reference || the noise floor's pass), nats
    double nll_mean = 0;                 ///< |mean nll of the noise floor's pass - mean nll of the reference|, nats
    double nll_median = 0, nll_max = 0;  ///< of |nll difference| per token
};

class RunModel {
 public:
    void begin(std::shared_ptr<const RunInfo> info, int n_layers, int n_kv_heads, int head_dim);
    /// Records of another run than the one begun are ignored.
    void append(std::vector<StepRecord> records);
    void append(const std::vector<FloorRecord>& floors);
    void append(const std::vector<LaneStop>& stops);

    bool empty() const { return !info_; }
    const RunInfo& info() const { return *info_; }
    std::shared_ptr<const RunInfo> shared_info() const { return info_; }
    int n_lanes() const { return int(lanes_.size()); }
    const std::vector<StepRecord>& lane(int i) const { return lanes_[size_t(i)]; }
    /// The lane quantizes, but nothing that attention had read when it made this prediction came from quantized
    /// storage: it is the reference's prediction, and an error of 0 says nothing about the scheme.
    bool nothing_read(int lane, const StepRecord& record) const;
    /// Why a lane has no figures: it does not run, is switched off, or stopped. "" when it has.
    const std::string& failure(int lane) const;
    LaneSummary summary(int lane) const;  ///< computed from all records of the lane; empty where failure() says why
    /// Of the steps whose reference was drawn a second time so far, in order.
    const std::vector<FloorRecord>& floors() const { return floors_; }
    const FloorRecord* floor_at(int step) const;  ///< nullptr: not measured (yet)
    NoiseFloor noise_floor() const;
    /// Lock-steps of all lanes per second of their wall time (StepRecord::step_ns), the prompt excluded; 0: none yet.
    double steps_per_second() const;
    std::vector<int> text_ids() const;  ///< the prompt's and the reference's tokens
    int n_layers() const { return n_layers_; }
    int n_kv_heads() const { return n_kv_heads_; }
    int head_dim() const { return head_dim_; }
    /// The pieces of the ids that occur, so that a saved run can be read without its model.
    std::string piece_of(int id) const;
    void set_piece(int id, std::string bytes);
    /// Takes the pieces of every id in the run from the tokenizer: before saving.
    void remember_pieces(const Tokenizer& tokenizer);

 private:
    std::shared_ptr<const RunInfo> info_;
    std::vector<std::vector<StepRecord>> lanes_;
    std::vector<FloorRecord> floors_;
    std::vector<std::string> failures_;                // per lane
    std::vector<std::pair<int, std::string>> pieces_;  // sorted by id
    int n_layers_ = 0, n_kv_heads_ = 0, head_dim_ = 0;
};

}  // namespace kvasir
