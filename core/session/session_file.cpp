// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/session_file.h"

#include <fmt/format.h>

#include "core/base/guard_memory.h"
#include "core/base/output.h"
#include "core/base/read_file.h"
#include "core/base/strict_json.h"
#include "core/session/json_fields.h"
#include "core/session/run_json.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr const char* kOwnKeys[] = {"kvasir_session", "experiment", "run"};

constexpr size_t kMostBytes = size_t(1) << 30;

Error refuse(const std::string& where, std::string why, std::string hint = "") {
    return {ErrorCode::input, "cannot read the session", where, std::move(why), std::move(hint)};
}

Error refuse(const RefusedField& field, const std::string& file) {
    return refuse(file.empty() ? field.where : file + ", " + field.where, field.why, field.hint);
}

/// Throws RefusedField.
Experiment read_experiment(const json& j, const std::string& path) {
    using namespace session_limits;
    const Fields f(j, path);
    Experiment e;
    e.model_path = f.text("model", kWords, "");
    e.prompt = f.text("prompt", kPrompt);
    e.chat = f.flag("chat", false);
    e.score_text = f.flag("score_text", false);
    e.prefill = f.whole("prefill", 0, kTokens, e.prefill);
    e.n_tokens = f.whole("n_tokens", 0, kTokens, e.n_tokens);
    e.mode = f.second_of("mode", "forced", "free") ? Mode::free_running : Mode::teacher_forced;
    e.sampling.temperature = float(f.real("temperature", 0, 1000, 0));
    e.sampling.top_k = f.whole("top_k", 0, kIds, 0);
    e.sampling.top_p = float(f.real("top_p", 0, 1, 1));
    e.sampling.seed = f.unsigned64("seed", 0);
    e.kernels = f.second_of("kernels", "fused", "reference") ? KernelPath::reference : KernelPath::fused;
    e.n_threads = f.whole("threads", 0, 1024, 0);
    e.prefill_chunk = f.whole("prefill_chunk", 1, kTokens, e.prefill_chunk);
    e.layer_errors = f.flag("layer_errors", true);
    e.sum_order = f.whole("sum_order", 0, 1000000, 0);
    if (f.has("stop_ids")) e.stop_ids = f.ids("stop_ids");
    e.min_tokens = f.whole("min_tokens", 0, kTokens, 0);
    e.noise_floor = f.flag("noise_floor", false);
    for (const json& lane : f.list("lanes", kLanes)) {
        const Fields l(lane, fmt::format("{}[{}]", f.path("lanes"), e.lanes.size()));
        auto spec = parse_cache_spec(l.text("spec", kWords));
        if (!spec) refuse_field(l.path("spec"), spec.error().message());
        e.lanes.push_back({std::move(*spec), l.flag("enabled", true), l.whole("mark", -1, kMarks, -1)});
    }
    if (e.lanes.empty()) refuse_field(f.path("lanes"), "it is empty");
    e.reference = f.whole("reference", 0, int(e.lanes.size()) - 1, 0);
    return e;
}

/// Throws RefusedField.
Session read_session(json& j) {
    const Fields f(j, "");
    if (!f.has("kvasir_session")) refuse_field("", "it has no key kvasir_session, so it is no Kvasir session");
    const int64_t version =
        whole_number(f.at("kvasir_session"), 1, std::numeric_limits<int64_t>::max(), [] { return "kvasir_session"; });
    if (version > kSessionVersion)
        throw RefusedField{"kvasir_session",
                           fmt::format("version {}, this program reads up to {}", version, kSessionVersion),
                           "Use a newer Kvasir."};
    Session session;
    session.experiment = read_experiment(f.at("experiment"), "experiment");
    if (f.has("run") && !f.at("run").is_null()) {
        // A run keeps the experiment it was made with: the window's may have been edited since.
        const Fields run(f.at("run"), "run");
        session.run = read_run(f.at("run"), read_experiment(run.at("experiment"), "run.experiment"));
    }
    for (const char* key : kOwnKeys)
        j.erase(key);
    session.extra = std::move(j);
    return session;
}

Error too_large(const std::string& where) {
    return {ErrorCode::memory, "cannot read the session", where, "it does not fit into memory",
            "Close other programs."};
}

/// What a session takes at most as a document and as text: of each record 32 columns, and one number a layer.
size_t room_as_json(const Session& session) {
    constexpr size_t kNumber = 128, kText = 8;
    const RunModel& run = session.run;
    size_t n = run.empty() ? 0 : run.info().prompt_ids.size();
    for (int lane = 0; lane < run.n_lanes(); ++lane)
        if (!run.lane(lane).empty()) n += run.lane(lane).size() * (32 + run.lane(lane).front().attention_error.size());
    n += run.floors().size() * size_t(4 + run.n_layers());
    return (size_t(1) << 20) + n * kNumber + session.experiment.prompt.size() * kText;
}

Result<Session> load_or_throw(const std::string& path) {
    const auto bytes = read_file(path, kMostBytes);
    if (!bytes) return bytes.error();
    auto j = parse_strict_json(*bytes, "cannot read the session", path);
    if (!j) {
        Error error = j.error();
        if (error.hint.empty()) error.hint = "Open a file saved by Kvasir.";
        return error;
    }
    if (!j->is_object())
        return refuse(path, shown_value(*j) + " is JSON, but no session", "Open a file saved by Kvasir.");
    return session_from_json(std::move(*j), path);
}

}  // namespace

json experiment_to_json(const Experiment& e) {
    json lanes = json::array();
    for (const LaneSetup& lane : e.lanes) {
        lanes.push_back({{"spec", lane.spec.text}, {"long_spec", long_spec(lane.spec)}, {"enabled", lane.enabled}});
        if (lane.mark >= 0) lanes.back()["mark"] = lane.mark;
    }
    return {{"model", e.model_path},
            {"prompt", e.prompt},
            {"chat", e.chat},
            {"score_text", e.score_text},
            {"prefill", e.prefill},
            {"n_tokens", e.n_tokens},
            {"mode", e.mode == Mode::free_running ? "free" : "forced"},
            {"temperature", e.sampling.temperature},
            {"top_k", e.sampling.top_k},
            {"top_p", e.sampling.top_p},
            {"seed", e.sampling.seed},
            {"lanes", lanes},
            {"reference", e.reference},
            {"kernels", e.kernels == KernelPath::reference ? "reference" : "fused"},
            {"threads", e.n_threads},
            {"prefill_chunk", e.prefill_chunk},
            {"layer_errors", e.layer_errors},
            {"sum_order", e.sum_order},
            {"stop_ids", e.stop_ids},
            {"min_tokens", e.min_tokens},
            {"noise_floor", e.noise_floor}};
}

Result<Experiment> experiment_from_json(const json& j) {
    try {
        return read_experiment(j, "experiment");
    } catch (const RefusedField& field) {
        return refuse(field, "");
    }
}

json session_to_json(const Session& session) {
    json j = session.extra.is_object() ? session.extra : json::object();
    j["kvasir_session"] = kSessionVersion;
    j["experiment"] = experiment_to_json(session.experiment);
    j["run"] = run_to_json(session.run);
    if (!session.run.empty()) j["run"]["experiment"] = experiment_to_json(session.run.info().experiment);
    return j;
}

Status save_session(const Session& session, const std::string& path) {
    const auto save = [&]() -> Status {
        if (!room_for(room_as_json(session))) throw std::bad_alloc();
        return write_output(path, session_to_json(session).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
    };
    return guard_memory(save, [&] {
        return Error{ErrorCode::memory, "cannot write the session", path, "there is not enough memory for its text",
                     "Close other programs."};
    });
}

Result<Session> load_session(const std::string& path) {
    return guard_memory([&] { return load_or_throw(path); }, [&] { return too_large(path); });
}

Result<Session> session_from_json(json j, const std::string& where) {
    try {
        return guard_memory([&] { return Result<Session>(read_session(j)); }, [&] { return too_large(where); });
    } catch (const RefusedField& field) {
        return field.where.empty() ? refuse(where, field.why, "Open a file saved by Kvasir.") : refuse(field, where);
    }
}

}  // namespace kvasir
