// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <cmath>

#include "app/cli/commands.h"
#include "app/cli/drive.h"
#include "app/cli/job.h"
#include "core/measure/statistics.h"
#include "core/report/csv.h"
#include "core/report/measurement_trap.h"
#include "core/report/perplexity_block.h"
#include "core/report/provenance.h"
#include "core/report/repeats.h"
#include "core/report/run_table.h"
#include "core/session/run.h"

namespace kvasir::cli {
namespace {

/// The draws of an evaluation: the first is shown, the others say how far it may be trusted.
struct Evaluation {
    std::unique_ptr<Run> run;
    RunModel measured;
    Repeats repeats;
    const Repeats* repeated() const { return repeats.size() > 1 ? &repeats : nullptr; }
};

struct EvalCommand {
    Common common;
    std::string text_file, reference, per_token, format = "table";
    std::vector<std::string> caches;
    int prefill = 128, tokens = 0, repeat = 1;
    bool blind = false, trap = false;

    int operator()() const;

 private:
    Result<Experiment> experiment() const;
    nlohmann::json document(const Experiment& e, const Model& model, const Evaluation& evaluation) const;
    void add_blind_rows(const Experiment& e, const std::shared_ptr<const Model>& model, const std::vector<int>& ids,
                        ProgressLine& progress, nlohmann::json& rows, Job& job) const;
    std::vector<TrapRow> trap_rows(const Experiment& e, const std::shared_ptr<const Model>& model,
                                   ProgressLine& progress, Job& job) const;
};

Result<Experiment> EvalCommand::experiment() const {
    auto e = scored_text(text_file, prefill, tokens, common);
    if (!e) return e.error();
    auto lanes = parse_lanes(caches, reference, &e->reference);
    if (!lanes) return lanes.error();
    e->lanes = std::move(*lanes);
    return e;
}

/// What goes wrong after the first scored token only ends the evaluation: `job` is told. An error: nothing was
/// measured.
Status evaluate(const std::shared_ptr<const Model>& model, Experiment e, int n_draws, ProgressLine& progress,
                Evaluation& out, Job& job) {
    for (int draw = 0; draw < n_draws && !job.stopped(); ++draw) {
        e.sum_order = draw;
        e.noise_floor = draw == 0;  // once is enough
        auto run = Run::create(model, e);
        if (!run && draw == 0) return run.error();
        if (!run) {
            job.stop(run.error());
            break;
        }
        if (draw > 0) progress.note(fmt::format("draw {} of {}", draw + 1, n_draws));
        RunModel measured;
        const auto complete = drive(**run, *model, measured, progress, job);
        if (!complete && draw == 0) return complete.error();
        if (!complete) {
            job.stop(complete.error());
            break;
        }
        if (draw == 0 || *complete) out.repeats.add(measured);
        if (draw > 0) continue;
        out.run = std::move(*run);
        out.measured = std::move(measured);
    }
    return {};
}

/// The row of a scheme measured the blind way.
nlohmann::json blind_row(const CacheSpec& spec, const std::vector<double>& nll) {
    const double m = mean(nll);
    return {{"spec", spec.text + " (blind forward)"},
            {"long_spec", long_spec(spec)},
            {"requested", spec.text},
            {"active", "exact attention in one forward pass"},
            {"why", "one forward pass never reads the cache: this says nothing about it"},
            {"n_scored", nll.size()},
            {"nll_mean", m},
            {"ppl", std::exp(m)},
            {"coverage", {{"k", 0.0}, {"v", 0.0}}}};
}

nlohmann::json no_blind_row(const CacheSpec& spec, const std::string& why) {
    return {{"spec", spec.text + " (blind forward)"},
            {"long_spec", long_spec(spec)},
            {"requested", spec.text},
            {"active", nullptr},
            {"why", why}};
}

void print_for_people(const Evaluation& evaluation, const nlohmann::json& rows) {
    fmt::print("{}", run_table(evaluation.measured, *evaluation.run));
    for (const auto& row : rows) {
        const auto spec = row["spec"].get<std::string>();
        if (row.contains("repeat")) {
            const auto& r = row["repeat"];
            const auto figure = [&](const char* what, const char* key) { return r[what][key].get<double>(); };
            fmt::print(
                "{:<26} {} draws: nll {:.5f} ± {:.5f}, mean KL {:.3g} ± {:.2g}; one token's nll lies within {:.2g} "
                "(median), {:.2g} (most)\n",
                spec, r["n"].get<int>(), figure("nll_mean", "mean"), figure("nll_mean", "sd"),
                figure("kl_mean", "mean"), figure("kl_mean", "sd"), figure("nll_range_per_token", "median"),
                figure("nll_range_per_token", "max"));
        }
        if (spec.find("(blind") != std::string::npos && !row.contains("nll_mean"))
            fmt::print("{:<38} not possible: {}\n", spec, row["why"].get<std::string>());
        else if (spec.find("(blind") != std::string::npos)
            fmt::print(
                "{:<38} nll {:.5f}, 0 % of attention reads were quantized. This number says nothing about the "
                "cache.\n",
                spec, row["nll_mean"].get<double>());
    }
}

/// One forward pass per scheme; those reached by an interruption have no row.
void EvalCommand::add_blind_rows(const Experiment& e, const std::shared_ptr<const Model>& model,
                                 const std::vector<int>& ids, ProgressLine& progress, nlohmann::json& rows,
                                 Job& job) const {
    for (const LaneSetup& lane : e.lanes) {
        progress.note("blind forward: " + lane.spec.text);
        const auto nll = blind_nll(model, lane.spec, ids, prefill, common.threads, interrupted_by_user());
        if (!nll && nll.error().code != ErrorCode::input) {
            job.stop(nll.error());
            return;
        }
        rows.push_back(nll ? blind_row(lane.spec, *nll) : no_blind_row(lane.spec, nll.error().why));
    }
}

std::vector<TrapRow> EvalCommand::trap_rows(const Experiment& e, const std::shared_ptr<const Model>& model,
                                            ProgressLine& progress, Job& job) const {
    progress.note("the same text measured in four ways");
    auto measured = measurement_trap(
        model, e, [&](double share, const char* what) { progress.show(share, what); }, interrupted_by_user());
    if (!measured) {
        job.stop(measured.error());
        return {};
    }
    if (!measured->complete) job.interrupted();
    return std::move(measured->rows);
}

nlohmann::json EvalCommand::document(const Experiment& e, const Model& model, const Evaluation& evaluation) const {
    const RunModel& measured = evaluation.measured;
    nlohmann::json j = provenance(&model, e.kernels);
    j["text"] = text_head(text_file, e.prompt, size_t(measured.info().n_text_tokens));
    j["protocol"] = protocol_json(model, prefill, evaluation.run->n_done());
    const Bootstrap bootstrap;
    j["bootstrap"] = {{"block", bootstrap.block},
                      {"samples", bootstrap.n_samples},
                      {"seed", common.seed},
                      {"level", 0.95},
                      {"fewest_values", kFewestBlocks * bootstrap.block}};
    j["reference"] = e.lanes[size_t(e.reference)].spec.text;
    j["noise_floor"] = noise_floor_json(measured.noise_floor());
    return j;
}

int EvalCommand::operator()() const {
    Job job(common);
    job.reads(text_file, "the text");
    job.reads_model();
    if (Status ok = job.writes(per_token, "--per-token"); !ok) return fail(common, ok.error());
    const auto e = experiment();
    if (!e) return fail(common, e.error());
    const bool block = format == "llama-perplexity";
    if (block && repeat > 1 && per_token.empty())
        job.note("--repeat has no effect on llama-perplexity's block, which shows the first draw");
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    ProgressLine progress(common);
    Evaluation evaluation;
    if (Status s = evaluate(*model, *e, repeat, progress, evaluation, job); !s) return fail(common, s.error());
    const RunModel& measured = evaluation.measured;
    if (!per_token.empty()) job.write(per_token, per_token_csv(measured, evaluation.repeated()));

    nlohmann::json rows = run_lanes_json(measured, *evaluation.run, common.seed);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].erase("text");
        if (evaluation.repeated() && measured.failure(int(i)).empty())
            rows[i]["repeat"] = evaluation.repeats.lane(int(i));
    }
    if (blind && !job.stopped()) add_blind_rows(*e, *model, measured.text_ids(), progress, rows, job);
    std::vector<TrapRow> ways;
    if (trap && !job.stopped()) ways = trap_rows(*e, *model, progress, job);
    if (common.json) {
        nlohmann::json j = document(*e, **model, evaluation);
        j["lanes"] = std::move(rows);
        if (trap) j["trap"] = trap_json(ways);
        return job.finish(std::move(j));
    }
    if (block) {
        fmt::print("{}", perplexity_blocks(measured));
        return job.finish();
    }
    print_for_people(evaluation, rows);
    if (!ways.empty())
        fmt::print("\n{}", trap_table(ways, e->lanes[size_t(e->reference)].spec.text, measured.noise_floor()));
    return job.finish();
}

}  // namespace

void add_eval(CLI::App& app, int& status) {
    auto command = std::make_shared<EvalCommand>();
    CLI::App* sub =
        app.add_subcommand("eval", "Teacher-forced perplexity and divergence through the cache, token by token");
    command->common.add_engine_to(*sub);
    command->common.add_weights_to(*sub);
    sub->add_option("--text", command->text_file, "Text file (default: the built-in lighthouse text)");
    sub->add_option("--cache", command->caches, "Cache spec, repeatable")->required();
    sub->add_option("--reference", command->reference, "Spec errors are measured against (default fp16)");
    sub->add_option("--prefill", command->prefill, "Tokens read as the prompt")->check(CLI::Range(1, 10000000));
    sub->add_option("--tokens", command->tokens, "Tokens in all, prompt included (default: the whole text)")
        ->check(CLI::Range(2, 10000000));
    auto* format = sub->add_option("--format", command->format, "llama-perplexity: its statistics block, per lane")
                       ->check(CLI::IsMember({"table", "llama-perplexity"}))
                       ->excludes("--json");
    add_output(*sub, "--per-token", command->per_token,
               "Write one CSV line per lane and token; rank 0 is the most likely");
    sub->add_option("--repeat", command->repeat, "Run every scheme N times with sums in another order: the spread")
        ->check(CLI::Range(1, 100));
    sub->add_flag("--trap", command->trap,
                  "Measure the same tokens in four ways: blind, prompt exact, write-then-read, token by token")
        ->excludes(format);
    sub->add_option("--seed", command->common.seed, "Seed of the bootstrap that the confidence intervals come from");
    sub->add_flag("--blind", command->blind, "Add a row per spec from one forward pass, which never reads the cache")
        ->excludes(format);
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
