// SPDX-License-Identifier: GPL-3.0-or-later
// A finished run of one to eight lanes without a model, as a session: views show it as they show a measured one.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/session/session_file.h"

namespace kvasir::test {

inline const std::vector<std::string>& eight_schemes() {
    static const std::vector<std::string> specs{
        "fp16",   "quanto:4", "quanto:2", "hadamard:2", "k=affine3:group=16:axis=token; v=affine2:group=32:axis=token",
        "kivi:2", "tq:3",     "ggml:q4_0"};
    return specs;
}

/// First-start experiment with the first `n_lanes` of eight_schemes().
inline Experiment synthetic_experiment(int n_lanes, Mode mode = Mode::teacher_forced) {
    Experiment e = Experiment::first_start();
    e.mode = mode;
    e.reference = 0;
    e.lanes.clear();
    for (int lane = 0; lane < n_lanes; ++lane) {
        LaneSetup setup;
        setup.spec = parse_cache_spec(eight_schemes()[size_t(lane)]).value();
        e.lanes.push_back(std::move(setup));
    }
    return e;
}

/// Errors, bytes and times have the sizes a small model has; lane 1 flips late, lane 2 early.
inline StepRecord synthetic_record(int lane, int step, int n_layers, bool free_running) {
    const double wave = std::sin(step * 0.7 + lane) + 0.6 * std::sin(step * 1.9 + 2 * lane);
    const double level[] = {0, 0.012, 1.2, 0.018, 0.05, 0.4, 0.2, 0.003};
    StepRecord r;
    r.run = 1;
    r.lane = lane;
    r.step = step;
    r.position = 149 + step;
    r.token_id = 100 + step % 40;
    r.top1_id = r.token_id;
    r.nll = float(1.6 + 0.5 * wave);
    r.kl = lane == 0 ? 0.0f : float(level[lane] * std::exp(1.2 * wave));
    r.delta_logprob = float(-0.2 * std::sqrt(level[lane]) * wave);
    r.reference_probability = 0.6f;
    r.probability = lane == 0 ? 0.6f : 0.55f;
    r.top1_agrees = lane == 0 || r.kl < 0.5f;
    if (free_running && lane > 0) r.comparable = step < 8 + 4 * lane;
    r.n_cached = r.position;
    if (lane > 0 && step > 0) {  // 84 % of what attention read came from quantized storage
        r.coverage.k_total = r.coverage.v_total = uint64_t(1000 * step);
        r.coverage.k_quantized = r.coverage.v_quantized = uint64_t(840 * step);
    }
    const double values = 2.0 * n_layers * 3 * 64 * r.n_cached;
    r.bytes.codes = uint64_t(values * (lane == 0 ? 2.0 : 0.2 + 0.05 * lane));
    r.bytes.scales = lane ? uint64_t(values * 0.02) : 0;
    r.bytes.zeros = r.bytes.scales;
    r.bytes.residual = lane ? uint64_t(values * 0.2) : 0;
    if (step > 0) {
        r.time.matmul = 7.1e6;
        r.time.scores = 5e5 + 900.0 * r.n_cached;
        r.time.weighted_sum = 4e5;
        r.time.softmax = 2e5;
        r.time.quantize = lane ? 3e5 : 0;
        r.time.other = 4e5 + 1e5 * std::abs(wave);
    }
    r.step_ns = 9e6;
    for (int layer = 0; layer < n_layers; ++layer)
        r.attention_error.push_back(float(level[lane] * (0.6 + 0.4 * std::sin(layer * 0.8))));
    return r;
}

inline Session synthetic_session(int n_lanes, int n_tokens = 56, Mode mode = Mode::teacher_forced) {
    constexpr int kLayers = 30, kHeads = 3, kHeadDim = 64;
    Session session;
    session.experiment = synthetic_experiment(n_lanes, mode);
    auto info = std::make_shared<RunInfo>();
    info->serial = 1;
    info->experiment = session.experiment;
    info->model_name = "SmolLM2-135M-Instruct";
    info->model_weights = "Q4_1";
    info->n_threads = 2;
    info->simd = "AVX2";
    info->n_planned = n_tokens;
    info->prompt_ids.assign(149, 1);
    for (const LaneSetup& setup : session.experiment.lanes) {
        RunInfo::LaneInfo lane;
        lane.requested = setup.spec.text;
        lane.active = long_spec(setup.spec);
        lane.title = display_name(setup.spec);
        lane.nominal_bits = nominal_bits_per_value(setup.spec, kHeadDim);
        lane.exact = setup.spec.exact();
        info->lanes.push_back(std::move(lane));
    }
    session.run.begin(info, kLayers, kHeads, kHeadDim);
    const char* words[] = {" Lindqvist", ",", " Mira", " Sandhu", " Pavel", " Novak", " the", " lighthouse", ".", "\n"};
    for (int i = 0; i < 40; ++i)
        session.run.set_piece(100 + i, words[i % 10]);
    session.run.set_piece(1, " prompt");
    for (int step = 0; step < n_tokens; ++step) {
        std::vector<StepRecord> records;
        for (int lane = 0; lane < n_lanes; ++lane)
            records.push_back(synthetic_record(lane, step, kLayers, mode == Mode::free_running));
        session.run.append(std::move(records));
        session.run.append(std::vector<FloorRecord>{{1, step, 4.6e-7f, 1e-5f, std::vector<float>(kLayers, 1e-4f)}});
    }
    return session;
}

}  // namespace kvasir::test
