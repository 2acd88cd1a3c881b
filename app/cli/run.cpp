// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/drive.h"
#include "app/cli/job.h"
#include "core/report/csv.h"
#include "core/report/provenance.h"
#include "core/report/run_table.h"
#include "core/session/prompt_library.h"
#include "core/session/run.h"
#include "core/session/session_file.h"

namespace kvasir::cli {
namespace {

struct RunCommand {
    Common common;
    std::string prompt, prompt_id, mode, reference, csv, session;
    std::vector<std::string> caches;
    int tokens = 0, min_tokens = 0;
    bool chat = false, prompt_given = false;
    Sampling sampling;

    /// The first start, changed by what was asked for.
    Result<Experiment> experiment() const {
        Experiment e = Experiment::first_start();
        if (!prompt_id.empty()) {
            const DemoPrompt* p = demo_prompt(prompt_id);
            if (!p) {
                std::string names;
                for (const DemoPrompt& d : demo_prompts())
                    names += (names.empty() ? "" : ", ") + d.id;
                return Error{ErrorCode::usage, "unknown prompt", "--prompt-id", prompt_id, "It may be: " + names + "."};
            }
            e.prompt = p->text, e.chat = p->chat, e.n_tokens = p->suggested_tokens;
        }
        if (prompt_given) e.prompt = prompt, e.chat = false;
        if (chat) e.chat = true;
        if (tokens > 0) e.n_tokens = tokens;
        e.min_tokens = min_tokens;
        if (mode == "forced") e.mode = Mode::teacher_forced;
        if (mode == "free") e.mode = Mode::free_running;
        e.sampling = sampling;
        e.sampling.seed = common.seed;
        e.n_threads = common.threads;
        e.kernels = common.kernel_path();
        e.model_path = common.model_path;
        if (!caches.empty() || !reference.empty()) {
            std::vector<std::string> specs = caches;
            if (specs.empty())
                for (const LaneSetup& lane : e.lanes)
                    specs.push_back(lane.spec.text);
            auto lanes = parse_lanes(specs, reference, &e.reference);
            if (!lanes) return lanes.error();
            e.lanes = std::move(*lanes);
        }
        return e;
    }

    int operator()() const;

 private:
    void note_dropped(const Experiment& e, Job& job) const;
    nlohmann::json document(const Experiment& e, const Model& model, const Run& run, const RunModel& measured) const;
};

/// Says which options have no effect.
void RunCommand::note_dropped(const Experiment& e, Job& job) const {
    if (!(sampling.temperature > 0) && (sampling.top_k > 0 || sampling.top_p < 1 || common.seed != 0))
        job.note("--top-k, --top-p and --seed have no effect at --temperature 0, which takes the likeliest token");
    if (min_tokens > e.n_tokens)
        job.note(fmt::format("--min-tokens {} is more than the {} tokens asked for", min_tokens, e.n_tokens));
}

nlohmann::json RunCommand::document(const Experiment& e, const Model& model, const Run& run,
                                    const RunModel& measured) const {
    nlohmann::json j = provenance(&model, e.kernels);
    j["mode"] = measured.info().experiment.mode == Mode::free_running ? "free" : "forced";
    j["prompt"] = {{"text", e.prompt}, {"n_tokens", measured.info().prompt_ids.size()}};
    j["chat"] = e.chat && model.chat_template().kind() != ChatTemplate::Kind::none;
    j["seed"] = common.seed;
    j["sampling"] = {{"temperature", e.sampling.temperature}, {"top_k", e.sampling.top_k}, {"top_p", e.sampling.top_p}};
    j["reference"] = measured.info().experiment.lanes[size_t(measured.info().experiment.reference)].spec.text;
    j["noise_floor"] = noise_floor_json(measured.noise_floor());
    j["steps_per_second"] = measured.steps_per_second();
    j["lanes"] = run_lanes_json(measured, run);
    return j;
}

int RunCommand::operator()() const {
    Job job(common);
    job.reads_model();
    for (const auto& [path, option] : {std::pair{csv, "--csv"}, {session, "--session"}})
        if (Status ok = job.writes(path, option); !ok) return fail(common, ok.error());
    auto e = experiment();
    if (!e) return fail(common, e.error());
    note_dropped(*e, job);
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    if (chat)
        if (Status ok = needs_chat_template(**model); !ok) return fail(common, ok.error());
    auto run = Run::create(*model, *e);
    if (!run) return fail(common, run.error());
    RunModel measured;
    ProgressLine progress(common);
    const auto complete = drive(**run, **model, measured, progress, job);
    if (!complete) return fail(common, complete.error());

    if (!csv.empty()) job.write(csv, per_token_csv(measured));
    if (!session.empty()) job.take(save_session({*e, measured, nlohmann::json::object()}, session));
    if (common.json) return job.finish(document(*e, **model, **run, measured));
    progress.note("");
    for (int i = 0; i < measured.n_lanes(); ++i) {
        if (!measured.failure(i).empty()) continue;
        fmt::print("── {} · {}\n{}\n\n", measured.info().lanes[size_t(i)].title,
                   measured.info().lanes[size_t(i)].requested, lane_text(measured, i));
    }
    fmt::print("{}", run_table(measured, **run));
    return job.finish();
}

}  // namespace

void add_run(CLI::App& app, int& status) {
    auto command = std::make_shared<RunCommand>();
    CLI::App* sub = app.add_subcommand(
        "run", "Side-by-side generation through several caches; without options: the demonstration of the first start");
    command->common.add_engine_to(*sub);
    command->common.add_weights_to(*sub);
    auto* prompt = sub->add_option("--prompt", command->prompt, "Text to continue");
    sub->add_option("--prompt-id", command->prompt_id, "A built-in prompt, e.g. ten-names")->excludes(prompt);
    sub->add_option("--cache", command->caches, "Cache spec, repeatable: see kvasir-cli caches");
    sub->add_option("--reference", command->reference, "Spec errors are measured against (default fp16)");
    sub->add_option("--tokens", command->tokens, "Tokens to generate")->check(CLI::Range(1, 1000000));
    sub->add_option("--min-tokens", command->min_tokens, "No text ends before so many tokens")
        ->check(CLI::Range(0, 1000000));
    sub->add_option("--mode", command->mode,
                    "forced: every lane is given the reference's tokens; free: each follows its own (default)")
        ->check(CLI::IsMember({"forced", "free"}));
    sub->add_flag("--chat", command->chat, "Use the model's chat template");
    sub->add_option("--temperature", command->sampling.temperature, "0: greedy")->check(CLI::Range(0.0f, 100.0f));
    sub->add_option("--top-k", command->sampling.top_k, "0: off")->check(CLI::Range(0, 1000000));
    sub->add_option("--top-p", command->sampling.top_p, "1: off")->check(CLI::Range(0.0f, 1.0f));
    sub->add_option("--seed", command->common.seed, "Seed of the sampler");
    add_output(*sub, "--csv", command->csv, "Write one line per lane and token");
    add_output(*sub, "--session", command->session, "Write a .kvasir session");
    sub->callback([command, &status, prompt] {
        command->prompt_given = !prompt->empty();
        status = (*command)();
    });
}

}  // namespace kvasir::cli
