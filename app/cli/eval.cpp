// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <cmath>

#include "app/cli/commands.h"
#include "app/cli/common.h"
#include "app/cli/drive.h"
#include "core/base/output.h"
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

struct EvalCommand {
    Common common;
    std::string text_file, reference, per_token, format = "table";
    std::vector<std::string> caches;
    int prefill = 128, tokens = 0, repeat = 1;
    bool blind = false, trap = false;

    int operator()() const;

 private:
    Result<Experiment> experiment() const;
};

/// The draws of an evaluation: the first is shown, the others say how far it may be trusted.
struct Evaluation {
    std::unique_ptr<Run> run;
    RunModel measured;
    Repeats repeats;
    bool complete = true;
    const Repeats* repeated() const { return repeats.size() > 1 ? &repeats : nullptr; }
};

Result<Experiment> EvalCommand::experiment() const {
    auto e = scored_text(text_file, prefill, tokens, common);
    if (!e) return e.error();
    auto lanes = parse_lanes(caches, reference, &e->reference);
    if (!lanes) return lanes.error();
    e->lanes = std::move(*lanes);
    return e;
}

Status evaluate(const std::shared_ptr<const Model>& model, Experiment e, int n_draws, ProgressLine& progress,
                Evaluation& out) {
    for (int draw = 0; draw < n_draws && out.complete; ++draw) {
        e.sum_order = draw;
        e.noise_floor = draw == 0;  // once is enough
        auto run = Run::create(model, e);
        if (!run) return run.error();
        if (draw > 0) progress.note(fmt::format("draw {} of {}", draw + 1, n_draws));
        RunModel measured;
        const auto complete = drive(**run, *model, measured, progress);
        if (!complete) return complete.error();
        out.complete = *complete;
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

int EvalCommand::operator()() const {
    const auto e = experiment();
    if (!e) return fail(common, e.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    ProgressLine progress(common);
    Evaluation evaluation;
    if (Status s = evaluate(*model, *e, repeat, progress, evaluation); !s) return fail(common, s.error());
    const RunModel& measured = evaluation.measured;
    if (!per_token.empty())
        if (Status s = write_output(per_token, per_token_csv(measured, evaluation.repeated())); !s)
            return fail(common, s.error());

    const std::vector<int> ids = measured.text_ids();
    nlohmann::json rows = run_lanes_json(measured, *evaluation.run, common.seed);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].erase("text");
        if (evaluation.repeated() && !measured.info().lanes[i].failed)
            rows[i]["repeat"] = evaluation.repeats.lane(int(i));
    }
    if (blind && evaluation.complete) {
        for (const LaneSetup& lane : e->lanes) {
            progress.note("blind forward: " + lane.spec.text);
            const auto nll = blind_nll(*model, lane.spec, ids, prefill, common.threads, interrupted_by_user());
            if (!nll && nll.error().code == ErrorCode::interrupted) return fail(common, nll.error());
            rows.push_back(nll ? blind_row(lane.spec, *nll) : no_blind_row(lane.spec, nll.error().why));
        }
    }
    std::vector<TrapRow> trap_rows;
    if (trap && evaluation.complete) {
        progress.note("the same text measured in four ways");
        auto measured_ways = measurement_trap(
            *model, *e, [&](double share, const char* what) { progress.show(share, what); }, interrupted_by_user());
        if (measured_ways)
            trap_rows = std::move(*measured_ways);
        else if (measured_ways.error().code == ErrorCode::interrupted)
            evaluation.complete = false;  // the evaluation itself is still shown
        else
            return fail(common, measured_ways.error());
    }
    if (common.json) {
        nlohmann::json j = provenance(model->get(), e->kernels);
        j["text"] = text_head(text_file, e->prompt, size_t(measured.info().n_text_tokens));
        j["complete"] = evaluation.complete;
        j["protocol"] = protocol_json(**model, prefill, evaluation.run->n_done());
        const Bootstrap bootstrap;
        j["bootstrap"] = {
            {"block", bootstrap.block}, {"samples", bootstrap.n_samples}, {"seed", common.seed}, {"level", 0.95}};
        j["reference"] = e->lanes[size_t(e->reference)].spec.text;
        j["noise_floor"] = noise_floor_json(measured.noise_floor());
        j["lanes"] = std::move(rows);
        if (trap) j["trap"] = trap_json(trap_rows);
        print_json(j);
    } else if (format == "llama-perplexity") {
        fmt::print("{}", perplexity_blocks(measured));
    } else {
        print_for_people(evaluation, rows);
        if (!trap_rows.empty())
            fmt::print("\n{}", trap_table(trap_rows, e->lanes[size_t(e->reference)].spec.text, measured.noise_floor()));
    }
    return evaluation.complete ? 0 : 130;
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
    sub->add_option("--per-token", command->per_token, "Write one CSV line per lane and token");
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
