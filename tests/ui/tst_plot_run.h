// SPDX-License-Identifier: GPL-3.0-or-later
// Runs made by hand for the tests of the plots, and a feed to give them with.
#pragma once

#include <cmath>
#include <random>

#include "ui/plots/plot_feed.h"
#include "ui/plots/plot_frame.h"

namespace kvasir::ui {

class HandFeed : public PlotFeed {
 public:
    RunModel model;
    bool still_running = false;
    std::optional<PlannedRun> planned;
    std::vector<DistributionRequest> requests;
    int n_cancelled = 0;

    const RunModel& run() const override { return model; }
    std::optional<PlannedRun> plannedRun() const override { return planned; }
    void requestDistribution(const DistributionRequest& request) override { requests.push_back(request); }
    void cancelDistribution() override { ++n_cancelled; }

    void begin(const RunModel& run) {
        model = run;
        emit runBegan();
    }
    void append(std::vector<StepRecord> records) {
        model.append(std::move(records));
        emit recordsAppended();
    }
    void append(const std::vector<FloorRecord>& floors) {
        model.append(floors);
        emit recordsAppended();
    }

 protected:
    bool underWay() const override { return still_running; }
};

constexpr int kPromptTokens = 128, kLayers = 30, kHeads = 3, kHeadDim = 64;

const std::vector<const char*> kFourLanes{"fp16", "quanto:4", "quanto:2", "hadamard:2"};
const std::vector<const char*> kEightLanes{"fp16",   "quanto:4", "quanto:2",  "hadamard:2",
                                           "kivi:2", "tq:3",     "ggml:q4_0", "hqq:4"};

/// A run without records: the first lane is the reference.
inline RunModel emptyRun(int n_planned, Mode mode = Mode::teacher_forced,
                         const std::vector<const char*>& specs = kFourLanes) {
    auto info = std::make_shared<RunInfo>();
    info->serial = 1;
    info->experiment.model_path = "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
    info->experiment.prompt = "The Notebook of Ilse Marrow, Keeper of Gannet Rock.";
    info->experiment.mode = mode;
    info->model_name = "SmolLM2-135M-Instruct";
    info->model_weights = "Q4_1";
    info->model_sha256 = std::string(64, 'a');
    info->n_planned = n_planned;
    info->prompt_ids.assign(kPromptTokens, 1);
    for (const char* text : specs) {
        LaneSetup lane;
        lane.spec = parse_cache_spec(text).value();
        RunInfo::LaneInfo lane_info;
        lane_info.requested = text;
        lane_info.active = long_spec(lane.spec);
        lane_info.title = display_name(lane.spec);
        lane_info.exact = lane.spec.exact();
        info->lanes.push_back(lane_info);
        info->experiment.lanes.push_back(std::move(lane));
    }
    RunModel run;
    run.begin(info, kLayers, kHeads, kHeadDim);
    return run;
}

/// Records of all lanes for steps [from, to): noisy, with the sizes a small model has.
inline std::vector<StepRecord> handRecords(int from, int to, int n_lanes = 4) {
    const double level[] = {0, 0.012, 1.2, 0.018};
    const double bytes_per_value[] = {2, 4.5 / 8, 2.5 / 8, 3.0 / 8};
    const int residual[] = {0, 128, 128, 32};
    std::vector<StepRecord> records;
    for (int step = from; step < to; ++step)
        for (int at = 0; at < n_lanes; ++at) {
            const int lane = at < 4 ? at : 1 + at % 3;  // what it is like
            std::mt19937 random(unsigned(step * n_lanes + at));
            std::normal_distribution<double> normal;
            StepRecord r;
            r.run = 1;
            r.lane = at;
            r.step = step;
            r.position = kPromptTokens + step;
            r.token_id = 1000 + step;
            r.nll = float(2.6 + 0.4 * lane * (lane == 2) + 1.2 * normal(random));
            const double swell = 1 + 0.6 * std::sin(step / 40.0 + lane);
            r.kl = lane == 0 ? 0.0f : float(level[lane] * swell * std::exp(1.3 * normal(random)));
            r.delta_logprob = float(lane == 0 ? 0 : std::sqrt(level[lane]) * normal(random));
            r.rank = lane == 2 ? int(std::exp(std::abs(2 * normal(random)))) - 1 : int(std::abs(1.5 * normal(random)));
            r.top1_agrees = r.kl < 0.3f;
            r.n_cached = kPromptTokens + step;
            if (lane) r.coverage = {90, 100, 80, 100};
            const int exact = residual[lane] ? (step % residual[lane]) : 0;
            const double values = 2.0 * kLayers * kHeads * kHeadDim;
            const double quantized = values * (r.n_cached - exact);
            r.bytes.codes = uint64_t(quantized * bytes_per_value[lane] * (lane ? 0.85 : 1));
            r.bytes.scales = lane ? uint64_t(quantized * bytes_per_value[lane] * 0.08) : 0;
            r.bytes.zeros = lane ? uint64_t(quantized * bytes_per_value[lane] * 0.07) : 0;
            r.bytes.residual = uint64_t(values * exact * 2);
            if (step > 0) {
                r.time.matmul = 7.1e6;
                r.time.scores = 5e5 + 900.0 * r.n_cached;
                r.time.weighted_sum = 4e5 + 800.0 * r.n_cached;
                r.time.softmax = 2e5;
                r.time.quantize = lane ? 3e5 : 0;
                r.time.rotate = lane == 3 ? 2e5 : 0;
                r.time.other = 4e5 + 3e5 * std::abs(normal(random));
            }
            for (int layer = 0; layer < kLayers; ++layer)
                r.attention_error.push_back(lane == 0
                                                ? 0.0f
                                                : float((lane == 2 ? 0.3 : 0.07) * (0.6 + 0.4 * std::sin(layer * 0.8)) *
                                                        (step % 128 < 8 ? 1.6 : 1) * std::exp(0.4 * normal(random))));
            records.push_back(std::move(r));
        }
    return records;
}

inline DistributionFrame handFrame(const DistributionRequest& request, bool rotated) {
    DistributionFrame frame;
    frame.request = request;
    frame.n_tokens = 192;
    frame.n_quantized = 160;
    frame.rotated = rotated;
    frame.low = -0.65, frame.high = 0.65;
    frame.before.assign(size_t(request.n_bins), 0);
    frame.after = frame.decoded = frame.before;
    std::mt19937 random(7);
    std::normal_distribution<double> narrow(0, 0.03), wide(0, 0.16), turned(0, 0.055);
    const auto bin = [&](double x) {
        return size_t(
            std::clamp(int((x - frame.low) / (frame.high - frame.low) * request.n_bins), 0, request.n_bins - 1));
    };
    frame.levels = {-0.12, -0.043, 0.034, 0.11};
    for (int i = 0; i < 12288; ++i) {
        const double x = i % 64 < 3 ? wide(random) - 0.1 : narrow(random), y = rotated ? turned(random) : x;
        ++frame.before[bin(x)];
        ++frame.after[bin(y)];
        double nearest = frame.levels[0];
        for (const double level : frame.levels)
            if (std::abs(level - y) < std::abs(nearest - y)) nearest = level;
        ++frame.decoded[bin(nearest)];
    }
    frame.before_stats = {0, 0.045, 53.9, 13.0};
    frame.after_stats = rotated ? ValueStatistics{0, 0.05, 2.9, 3.8} : frame.before_stats;
    frame.mse = 2.55e-4;
    frame.sqnr_db = 9.24;
    frame.level_token = 125;
    return frame;
}

inline const PlotTexts kHandTexts{QStringLiteral("plot"), QStringLiteral("Plot"), QStringLiteral("What is it?")};

/// A plot that fills a shown window.
template <class Plot>
Plot* shown(HandFeed& feed, ViewState& view, QWidget& parent, QSize size = {600, 320}) {
    auto* plot = new Plot(feed, view, kHandTexts, &parent);
    parent.resize(size);
    plot->resize(size);
    parent.show();
    return plot;
}

}  // namespace kvasir::ui
