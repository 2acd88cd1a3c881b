// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_json.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "core/session/record_fields.h"

namespace kvasir {
namespace {

using nlohmann::json;

/// A column of `n` rows; every column of a table is as long as its first.
const json& column(const Fields& columns, const char* name, size_t n) {
    const json& c = columns.list(name, session_limits::kTokens);
    if (c.size() != n) refuse_field(columns.path(name), fmt::format("{} rows, \"step\" has {}", c.size(), n));
    return c;
}

/// One row of attention errors: one value per layer, or none.
std::vector<float> layer_errors(const json& row, int n_layers, const auto& where) {
    if (!row.is_array() || (!row.empty() && row.size() != size_t(n_layers)))
        refuse_field(where(), fmt::format("it must be an array of {} numbers or empty", n_layers));
    std::vector<float> values;
    for (const json& j : row)
        values.push_back(float(real_number(j, 0, session_limits::kNats, where)));
    return values;
}

std::vector<StepRecord> lane_from_json(const json& lane, const std::string& path, int index, const RunInfo& info,
                                       int n_layers) {
    const Fields columns(lane, path);
    const size_t n = columns.has("step") ? columns.list("step", session_limits::kTokens).size() : 0;
    std::vector<StepRecord> records(n);
    if (n == 0) return records;
    for (StepRecord& r : records)
        r.run = info.serial, r.lane = index;
    size_t row = 0;
    const char* name = "";
    const auto where = [&] { return fmt::format("{}, row {}", columns.path(name), row); };
    std::vector<const json*> table;  // the columns in the order of each_field: each is looked up once
    each_field(records[0],
               [&](const char* column_name, auto&, auto, auto) { table.push_back(&column(columns, column_name, n)); });
    for (row = 0; row < n; ++row) {
        auto cells = table.begin();
        each_field(records[row], [&](const char* column_name, auto& value, auto low, auto high) {
            using T = std::remove_reference_t<decltype(value)>;
            name = column_name;
            const json& cell = (**cells++)[row];
            if constexpr (std::is_same_v<T, bool>)
                value = yes_or_no(cell, where);
            else if constexpr (std::is_floating_point_v<T>)
                value = T(real_number(cell, double(low), double(high), where));
            else
                value = T(whole_number(cell, int64_t(low), int64_t(high), where));
        });
    }
    const json &tops = column(columns, "top", n), &errors = column(columns, "attention_error", n);
    const json* reads = columns.has("coverage") ? &column(columns, "coverage", n) : nullptr;
    for (row = 0; row < n; ++row) {
        StepRecord& r = records[row];
        name = "step";
        if (row > 0 && r.step <= records[row - 1].step)
            refuse_field(where(), fmt::format("step {} comes after step {}", r.step, records[row - 1].step));
        if (info.n_planned > 0 && r.step >= info.n_planned)
            refuse_field(where(), fmt::format("step {} of {} planned", r.step, info.n_planned));
        name = "position";
        if (row > 0 && r.position <= records[row - 1].position)
            refuse_field(where(),
                         fmt::format("position {} comes after position {}", r.position, records[row - 1].position));
        name = "top";
        const json& top = tops[row];
        if (!top.is_array() || top.size() != r.top.size())
            refuse_field(where(), fmt::format("it must be an array of {} pairs", r.top.size()));
        for (size_t t = 0; t < r.top.size(); ++t) {
            if (!top[t].is_array() || top[t].size() != 2) refuse_field(where(), "it must hold [id, probability]");
            r.top[t] = {int(whole_number(top[t][0], -1, session_limits::kIds, where)),
                        float(real_number(top[t][1], 0, 1.001, where))};
        }
        name = "attention_error";
        r.attention_error = layer_errors(errors[row], n_layers, where);
        name = "coverage";
        if (!reads) continue;  // a session from before it was recorded
        const json& counts = (*reads)[row];
        if (!counts.is_array() || counts.size() != 4) refuse_field(where(), "it must be an array of 4 counts");
        size_t at = 0;
        for (uint64_t* count :
             {&r.coverage.k_quantized, &r.coverage.k_total, &r.coverage.v_quantized, &r.coverage.v_total})
            *count = uint64_t(whole_number(counts[at++], 0, int64_t(session_limits::kBytes), where));
    }
    return records;
}

std::vector<FloorRecord> floors_from_json(const json& j, uint64_t serial, int n_layers) {
    const Fields columns(j, "run.noise_floor");
    const json& steps = columns.list("step", session_limits::kTokens);
    const size_t n = steps.size();
    const json &kl = column(columns, "kl", n), &delta = column(columns, "delta_logprob", n);
    const json* errors = columns.has("attention_error") ? &column(columns, "attention_error", n) : nullptr;
    std::vector<FloorRecord> floors;
    for (size_t row = 0; row < n; ++row) {
        const char* name = "step";
        const auto where = [&] { return fmt::format("{}, row {}", columns.path(name), row); };
        FloorRecord f;
        f.run = serial;
        f.step = int(whole_number(steps[row], 0, session_limits::kTokens, where));
        if (row > 0 && f.step <= floors.back().step)
            refuse_field(where(), fmt::format("step {} comes after step {}", f.step, floors.back().step));
        name = "kl";
        f.kl = float(real_number(kl[row], -session_limits::kNats, session_limits::kNats, where));
        name = "delta_logprob";
        f.delta_logprob = float(real_number(delta[row], -session_limits::kNats, session_limits::kNats, where));
        name = "attention_error";
        if (errors) f.attention_error = layer_errors((*errors)[row], n_layers, where);
        floors.push_back(std::move(f));
    }
    return floors;
}

std::string from_hex(const std::string& hex, const std::string& where) {
    const auto digit = [&](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        refuse_field(where, "it is not hexadecimal");
    };
    if (hex.size() % 2 != 0) refuse_field(where, "it has an odd number of hexadecimal digits");
    std::string out;
    for (size_t i = 0; i < hex.size(); i += 2)
        out += char(digit(hex[i]) * 16 + digit(hex[i + 1]));
    return out;
}

/// The pieces by id; the document has its keys in the order of their text.
std::map<int, std::string> pieces_from_json(const Fields& run) {
    const Fields pieces(run.at("pieces"), run.path("pieces"));
    std::map<int, std::string> by_id;
    for (const auto& [key, hex] : run.at("pieces").items()) {
        int id = -1;
        const auto [end, wrong] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (wrong != std::errc() || end != key.data() + key.size() || id < 0 || id > session_limits::kIds)
            refuse_field(run.path("pieces"), shown_value(key) + " is no token id");
        by_id[id] = from_hex(pieces.text(key.c_str(), 2 * session_limits::kWords), pieces.path(key.c_str()));
    }
    return by_id;
}

}  // namespace

std::string to_hex(const std::string& bytes) {
    std::string out;
    for (const unsigned char c : bytes)
        out += fmt::format("{:02x}", c);
    return out;
}

json records_to_json(const std::vector<StepRecord>& records) {
    json columns = json::object();
    for (const StepRecord& r : records) {
        each_field(r, [&](const char* name, const auto& value, auto, auto) { columns[name].push_back(value); });
        json top = json::array();
        for (const TopToken& t : r.top)
            top.push_back(json::array({t.id, t.probability}));
        columns["top"].push_back(std::move(top));
        columns["attention_error"].push_back(r.attention_error);
        const Coverage& c = r.coverage;
        columns["coverage"].push_back({c.k_quantized, c.k_total, c.v_quantized, c.v_total});
    }
    return columns;
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

json run_info_to_json(const RunInfo& info, int n_layers, int n_kv_heads, int head_dim) {
    json j;
    j["n_layers"] = n_layers, j["n_kv_heads"] = n_kv_heads, j["head_dim"] = head_dim;
    j["n_text_tokens"] = info.n_text_tokens, j["n_planned"] = info.n_planned, j["note"] = info.note,
    j["n_threads"] = info.n_threads, j["simd"] = info.simd;
    j["model_name"] = info.model_name, j["model_weights"] = info.model_weights;
    j["model_sha256"] = info.model_sha256;
    j["warnings"] = info.warnings;
    j["prompt_ids"] = info.prompt_ids;
    j["lanes"] = json::array();
    for (const RunInfo::LaneInfo& lane : info.lanes)
        j["lanes"].push_back({{"requested", lane.requested},
                              {"active", lane.active},
                              {"why", lane.why},
                              {"title", lane.title},
                              {"nominal_bits", lane.nominal_bits},
                              {"exact", lane.exact},
                              {"failed", lane.failed}});
    return j;
}

json run_to_json(const RunModel& run) {
    if (run.empty()) return nullptr;
    json j = run_info_to_json(run.info(), run.n_layers(), run.n_kv_heads(), run.head_dim());
    json pieces = json::object();
    const auto keep = [&](int id) { pieces[std::to_string(id)] = to_hex(run.piece_of(id)); };
    for (const int id : run.info().prompt_ids)
        keep(id);
    for (int i = 0; i < run.n_lanes(); ++i) {
        j["lanes"][size_t(i)]["records"] = records_to_json(run.lane(i));
        if (!run.info().lanes[size_t(i)].failed && !run.failure(i).empty())
            j["lanes"][size_t(i)]["stopped"] = run.failure(i);
        for (const StepRecord& r : run.lane(i)) {
            keep(r.token_id);
            for (const TopToken& t : r.top)
                if (t.id >= 0) keep(t.id);
        }
    }
    j["noise_floor"] = floors_to_json(run.floors());
    j["pieces"] = std::move(pieces);
    return j;
}

RunModel read_run(const json& j, const Experiment& experiment) {
    using namespace session_limits;
    const Fields f(j, "run");
    auto info = std::make_shared<RunInfo>();
    info->experiment = experiment;
    info->n_text_tokens = f.whole("n_text_tokens", 0, kTokens, 0);
    info->n_planned = f.whole("n_planned", 0, kTokens);
    info->note = f.text("note", kWords, "");
    info->n_threads = f.whole("n_threads", 0, 1024, 0);
    info->simd = f.text("simd", kWords, "");
    info->model_name = f.text("model_name", kWords, "");
    info->model_weights = f.text("model_weights", kWords, "");
    info->model_sha256 = f.text("model_sha256", kWords, "");
    if (f.has("warnings"))
        for (const json& warning : f.list("warnings", kLanes))
            if (warning.is_string()) info->warnings.push_back(warning.get<std::string>().substr(0, kWords));
    info->prompt_ids = f.ids("prompt_ids");
    const json& lanes = f.list("lanes", kLanes);
    if (lanes.size() != experiment.lanes.size())
        refuse_field("run.lanes", fmt::format("{} lanes were recorded, the experiment has {}", lanes.size(),
                                              experiment.lanes.size()));
    const auto path = [](size_t i) { return fmt::format("run.lanes[{}]", i); };
    for (size_t i = 0; i < lanes.size(); ++i) {
        const Fields l(lanes[i], path(i));
        RunInfo::LaneInfo lane;
        lane.requested = l.text("requested", kWords), lane.active = l.text("active", kWords);
        lane.why = l.text("why", kWords, ""), lane.title = l.text("title", kWords, lane.requested.c_str());
        lane.nominal_bits = real_number(l.at("nominal_bits"), 0, 64, [&] { return l.path("nominal_bits"); });
        lane.exact = l.flag("exact"), lane.failed = l.flag("failed");
        info->lanes.push_back(std::move(lane));
    }
    const int n_layers = f.whole("n_layers", 1, kLayers);
    RunModel run;
    run.begin(info, n_layers, f.whole("n_kv_heads", 1, kHeads), f.whole("head_dim", 1, kHeads));
    for (size_t i = 0; i < lanes.size(); ++i)
        run.append(
            lane_from_json(Fields(lanes[i], path(i)).at("records"), path(i) + ".records", int(i), *info, n_layers));
    for (size_t i = 0; i < lanes.size(); ++i)
        if (std::string why = Fields(lanes[i], path(i)).text("stopped", kWords, ""); !why.empty())
            run.append(std::vector<LaneStop>{{info->serial, int(i), std::move(why)}});
    if (f.has("noise_floor")) run.append(floors_from_json(f.at("noise_floor"), info->serial, n_layers));
    for (auto& [id, piece] : pieces_from_json(f))
        run.set_piece(id, std::move(piece));
    return run;
}

}  // namespace kvasir
