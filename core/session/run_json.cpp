// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kvasir {
namespace {

using nlohmann::json;

std::string to_hex(const std::string& bytes) {
    std::string out;
    for (const unsigned char c : bytes)
        out += fmt::format("{:02x}", c);
    return out;
}

std::string from_hex(const std::string& hex) {
    std::string out;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        out += char(std::stoi(hex.substr(i, 2), nullptr, 16));
    return out;
}

/// JSON has no NaN or infinity: they are written as null and read back as NaN.
double number(const json& j) {
    return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}

std::vector<float> numbers(const json& row) {
    std::vector<float> values;
    for (const json& j : row)
        values.push_back(float(number(j)));
    return values;
}

/// Every scalar of a record, once, for writing and for reading: visit(name, field).
template <class Record, class Visit>
void each_field(Record& r, Visit&& visit) {
    visit("step", r.step), visit("position", r.position), visit("token_id", r.token_id), visit("nll", r.nll);
    visit("delta_logprob", r.delta_logprob), visit("kl", r.kl), visit("probability", r.probability);
    visit("reference_probability", r.reference_probability), visit("top1_id", r.top1_id);
    visit("top1_agrees", r.top1_agrees), visit("rank", r.rank), visit("margin", r.margin),
        visit("comparable", r.comparable);
    visit("bytes_codes", r.bytes.codes), visit("bytes_scales", r.bytes.scales), visit("bytes_zeros", r.bytes.zeros);
    visit("bytes_residual", r.bytes.residual), visit("bytes_padding", r.bytes.padding), visit("n_cached", r.n_cached);
    visit("ns_matmul", r.time.matmul), visit("ns_quantize", r.time.quantize), visit("ns_scores", r.time.scores);
    visit("ns_softmax", r.time.softmax), visit("ns_weighted_sum", r.time.weighted_sum),
        visit("ns_rotate", r.time.rotate);
    visit("ns_other", r.time.other), visit("ns_step", r.step_ns);
}

json lane_to_json(const std::vector<StepRecord>& records) {
    json columns = json::object();
    for (const StepRecord& r : records) {
        each_field(r, [&](const char* name, const auto& value) { columns[name].push_back(value); });
        json top = json::array();
        for (const TopToken& t : r.top)
            top.push_back(json::array({t.id, t.probability}));
        columns["top"].push_back(std::move(top));
        columns["attention_error"].push_back(r.attention_error);
    }
    return columns;
}

std::vector<StepRecord> lane_from_json(const json& columns, int lane, uint64_t serial) {
    const size_t n = columns.contains("step") ? columns.at("step").size() : 0;
    std::vector<StepRecord> records(n);
    for (size_t i = 0; i < n; ++i) {
        StepRecord& r = records[i];
        r.run = serial;
        r.lane = lane;
        each_field(r, [&](const char* name, auto& value) {
            using T = std::remove_reference_t<decltype(value)>;
            const json& cell = columns.at(name).at(i);
            if constexpr (std::is_floating_point_v<T>)
                value = T(number(cell));
            else
                value = cell.get<T>();
        });
        const json& top = columns.at("top").at(i);
        for (size_t t = 0; t < r.top.size(); ++t)
            r.top[t] = {top.at(t).at(0).get<int>(), float(number(top.at(t).at(1)))};
        r.attention_error = numbers(columns.at("attention_error").at(i));
    }
    return records;
}

json floors_to_json(const std::vector<FloorRecord>& floors) {
    json columns = {{"step", json::array()},
                    {"kl", json::array()},
                    {"delta_logprob", json::array()},
                    {"attention_error", json::array()}};
    for (const FloorRecord& f : floors) {
        columns["step"].push_back(f.step);
        columns["kl"].push_back(f.kl);
        columns["delta_logprob"].push_back(f.delta_logprob);
        columns["attention_error"].push_back(f.attention_error);
    }
    return columns;
}

std::vector<FloorRecord> floors_from_json(const json& columns, uint64_t serial) {
    std::vector<FloorRecord> floors;
    for (size_t i = 0; i < columns.at("step").size(); ++i)
        floors.push_back({serial, columns.at("step").at(i).get<int>(), float(number(columns.at("kl").at(i))),
                          float(number(columns.at("delta_logprob").at(i))),
                          columns.contains("attention_error") ? numbers(columns.at("attention_error").at(i))
                                                              : std::vector<float>()});
    return floors;
}

}  // namespace

json run_to_json(const RunModel& run) {
    if (run.empty()) return nullptr;
    const RunInfo& info = run.info();
    json j;
    j["n_layers"] = run.n_layers(), j["n_kv_heads"] = run.n_kv_heads(), j["head_dim"] = run.head_dim();
    j["n_text_tokens"] = info.n_text_tokens, j["n_planned"] = info.n_planned, j["note"] = info.note,
    j["n_threads"] = info.n_threads, j["simd"] = info.simd;
    j["model_name"] = info.model_name, j["model_weights"] = info.model_weights;
    j["prompt_ids"] = info.prompt_ids;
    j["lanes"] = json::array();
    json pieces = json::object();
    const auto keep = [&](int id) { pieces[std::to_string(id)] = to_hex(run.piece_of(id)); };
    for (const int id : info.prompt_ids)
        keep(id);
    for (int i = 0; i < run.n_lanes(); ++i) {
        const RunInfo::LaneInfo& lane = info.lanes[size_t(i)];
        j["lanes"].push_back({{"requested", lane.requested},
                              {"active", lane.active},
                              {"why", lane.why},
                              {"title", lane.title},
                              {"nominal_bits", lane.nominal_bits},
                              {"exact", lane.exact},
                              {"failed", lane.failed},
                              {"records", lane_to_json(run.lane(i))}});
        for (const StepRecord& r : run.lane(i)) {
            keep(r.token_id);
            for (const TopToken& t : r.top)
                keep(t.id);
        }
    }
    j["noise_floor"] = floors_to_json(run.floors());
    j["pieces"] = std::move(pieces);
    return j;
}

Result<RunModel> run_from_json(const json& j, const Experiment& experiment) {
    RunModel run;
    if (j.is_null()) return run;
    try {
        auto info = std::make_shared<RunInfo>();
        info->experiment = experiment;
        info->n_text_tokens = j.value("n_text_tokens", 0), info->n_planned = j.at("n_planned"),
        info->note = j.value("note", "");
        info->n_threads = j.value("n_threads", 0), info->simd = j.value("simd", "");
        info->model_name = j.value("model_name", ""), info->model_weights = j.value("model_weights", "");
        info->prompt_ids = j.at("prompt_ids").get<std::vector<int>>();
        const json& lanes = j.at("lanes");
        if (lanes.size() != experiment.lanes.size())
            return Error{
                ErrorCode::input, "cannot read the run", "lanes",
                fmt::format("{} lanes were recorded, the experiment has {}", lanes.size(), experiment.lanes.size()),
                ""};
        for (const json& l : lanes) {
            RunInfo::LaneInfo lane;
            lane.requested = l.at("requested"), lane.active = l.at("active"), lane.why = l.value("why", "");
            lane.title = l.value("title", lane.requested), lane.nominal_bits = number(l.at("nominal_bits"));
            lane.exact = l.at("exact"), lane.failed = l.at("failed");
            info->lanes.push_back(std::move(lane));
        }
        run.begin(info, j.at("n_layers"), j.at("n_kv_heads"), j.at("head_dim"));
        for (size_t i = 0; i < lanes.size(); ++i)
            run.append(lane_from_json(lanes[i].at("records"), int(i), info->serial));
        if (j.contains("noise_floor")) run.append(floors_from_json(j.at("noise_floor"), info->serial));
        for (const auto& [id, hex] : j.at("pieces").items())
            run.set_piece(std::stoi(id), from_hex(hex.get<std::string>()));
    } catch (const std::exception& e) {  // a missing key, a wrong type, a short column
        return Error{ErrorCode::input, "cannot read the run", "", e.what(), "The file is damaged or not a session."};
    }
    return run;
}

}  // namespace kvasir
