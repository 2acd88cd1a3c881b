// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/session_file.h"

#include <fmt/format.h>

#include "core/base/output.h"
#include "core/base/read_file.h"
#include "core/session/run_json.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr const char* kOwnKeys[] = {"kvasir_session", "experiment", "run"};

Error refuse(const std::string& where, std::string why, std::string hint = "") {
    return {ErrorCode::input, "cannot read the session", where, std::move(why), std::move(hint)};
}

}  // namespace

json experiment_to_json(const Experiment& e) {
    json lanes = json::array();
    for (const LaneSetup& lane : e.lanes)
        lanes.push_back({{"spec", lane.spec.text}, {"long_spec", long_spec(lane.spec)}, {"enabled", lane.enabled}});
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
    Experiment e;
    try {
        e.model_path = j.value("model", "");
        e.prompt = j.at("prompt");
        e.chat = j.value("chat", false);
        e.score_text = j.value("score_text", false);
        e.prefill = j.value("prefill", e.prefill);
        e.n_tokens = j.value("n_tokens", e.n_tokens);
        e.mode = j.value("mode", "forced") == "free" ? Mode::free_running : Mode::teacher_forced;
        e.sampling.temperature = j.value("temperature", 0.0f);
        e.sampling.top_k = j.value("top_k", 0);
        e.sampling.top_p = j.value("top_p", 1.0f);
        e.sampling.seed = j.value("seed", uint64_t(0));
        e.reference = j.value("reference", 0);
        e.kernels = j.value("kernels", "fused") == "reference" ? KernelPath::reference : KernelPath::fused;
        e.n_threads = j.value("threads", 0);
        e.prefill_chunk = j.value("prefill_chunk", e.prefill_chunk);
        e.layer_errors = j.value("layer_errors", true);
        e.sum_order = j.value("sum_order", 0);
        e.stop_ids = j.value("stop_ids", e.stop_ids);
        e.min_tokens = j.value("min_tokens", 0);
        e.noise_floor = j.value("noise_floor", false);
        for (const json& lane : j.at("lanes")) {
            auto spec = parse_cache_spec(lane.at("spec").get<std::string>());
            if (!spec) return spec.error();
            e.lanes.push_back({std::move(*spec), lane.value("enabled", true)});
        }
    } catch (const json::exception& error) {
        return refuse("experiment", error.what(), "The file is damaged or not a session.");
    }
    if (e.reference < 0 || size_t(e.reference) >= e.lanes.size())
        return refuse("experiment", fmt::format("reference {} is not one of {} lanes", e.reference, e.lanes.size()));
    return e;
}

Status save_session(const Session& session, const std::string& path) {
    json j = session.extra.is_object() ? session.extra : json::object();
    j["kvasir_session"] = kSessionVersion;
    j["experiment"] = experiment_to_json(session.experiment);
    j["run"] = run_to_json(session.run);
    if (!session.run.empty()) j["run"]["experiment"] = experiment_to_json(session.run.info().experiment);
    return write_output(path, j.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<Session> load_session(const std::string& path) {
    const auto bytes = read_file(path);
    if (!bytes) return bytes.error();
    json j = json::parse(*bytes, nullptr, false);
    if (j.is_discarded() || !j.is_object()) return refuse(path, "it is not JSON", "Open a file saved by Kvasir.");
    if (!j.contains("kvasir_session") || !j["kvasir_session"].is_number_integer())
        return refuse(path, "it does not say that it is a Kvasir session", "Open a file saved by Kvasir.");
    if (j["kvasir_session"].get<int>() > kSessionVersion)
        return refuse(path,
                      fmt::format("it has version {}, this program reads up to {}", j["kvasir_session"].get<int>(),
                                  kSessionVersion),
                      "Use a newer Kvasir.");
    Session session;
    if (!j.contains("experiment")) return refuse(path, "the experiment is missing", "The file is damaged.");
    auto experiment = experiment_from_json(j["experiment"]);
    if (!experiment) return experiment.error();
    session.experiment = std::move(*experiment);
    if (j.contains("run") && j["run"].is_object()) {
        // A run keeps the experiment it was made with: the window's may have been edited since.
        auto made_with = experiment_from_json(j["run"].value("experiment", json::object()));
        if (!made_with) return made_with.error();
        auto run = run_from_json(j["run"], *made_with);
        if (!run) return run.error();
        session.run = std::move(*run);
    }
    for (const char* key : kOwnKeys)
        j.erase(key);
    session.extra = std::move(j);
    return session;
}

}  // namespace kvasir
