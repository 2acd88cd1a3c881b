// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/sweep.h"

#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/scheme_table.h"
#include "core/measure/pareto.h"
#include "core/report/run_table.h"

namespace kvasir::cli {
namespace {

struct SweepCommand {
    ScoredText scored;
    SweepGrid grid;

    int operator()() const;
};

struct Row {
    const SchemeFigures* figures;
    bool on_front = false;
};

std::vector<Row> rows_of(const SchemeBatches& batches) {
    std::vector<Row> rows;
    std::vector<Tradeoff> points;
    for (const SchemeFigures& f : batches.schemes) {
        if (!f.measured()) continue;
        rows.push_back({&f});
        points.push_back({f.bytes_per_token, f.kl.value});
    }
    const std::vector<bool> front = pareto_front(points);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i].on_front = front[i];
    return rows;
}

int SweepCommand::operator()() const {
    const Common& common = scored.common;
    nlohmann::json refused = nlohmann::json::array();
    std::vector<CacheSpec> specs;
    for (const SweepPoint& p : sweep_points(grid)) {
        if (p.refused.empty())
            specs.push_back(p.spec);
        else
            refused.push_back({{"spec", p.text}, {"why", p.refused}});
    }
    if (specs.empty())
        return fail(common, {ErrorCode::usage, "nothing to sweep", "--k and --v", refused[0]["why"].get<std::string>(),
                             "Choose other presets or options."});
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    Job job(common);
    auto outcome = scored.evaluate(*model, specs, job);
    if (!outcome) return fail(common, outcome.error());
    const SchemeBatches& batches = outcome->batches;
    for (const SchemeFigures& f : batches.schemes)
        if (!f.measured()) refused.push_back({{"spec", f.spec.text}, {"why", f.why.empty() ? "not reached" : f.why}});

    const std::vector<Row> rows = rows_of(batches);
    if (common.json) {
        nlohmann::json j = std::move(outcome->head);
        j["rows"] = nlohmann::json::array();
        for (const Row& row : rows) {
            const SchemeFigures& f = *row.figures;
            j["rows"].push_back({{"spec", f.spec.text},
                                 {"long_spec", long_spec(f.spec)},
                                 {"bytes_per_token", f.bytes_per_token},
                                 {"effective_bits", f.summary.effective_bits},
                                 {"n_scored", f.summary.n_scored},
                                 {"kl_mean", figure_json(f.kl)},
                                 {"dnll_mean", figure_json(f.dnll)},
                                 {"coverage", f.kl.coverage ? nlohmann::json(*f.kl.coverage) : nullptr},
                                 {"on_pareto_front", row.on_front}});
        }
        j["refused"] = std::move(refused);
        return job.finish(std::move(j));
    }
    fmt::print("{:<34} {:>12} {:>10} {:>10}  {}\n", "cache", "bytes/token", "mean KL", "mean dnll", "Pareto front");
    for (const Row& row : rows)
        fmt::print("{:<34} {:>12.1f} {:>10} {:>10.3g}  {}\n", row.figures->spec.text, row.figures->bytes_per_token,
                   kl_text(row.figures->kl), row.figures->dnll.value, row.on_front ? "*" : "");
    for (const auto& r : refused)
        fmt::print("{:<34} {}\n", r["spec"].get<std::string>(), r["why"].get<std::string>());
    fmt::print(
        "\n{} tokens scored after {} of the prompt, against fp16. bytes/token: cache bytes over cached tokens "
        "at the end, exact window included.\n{}",
        batches.n_scored, scored.prefill, noise_floor_line(batches.noise_floor));
    return job.finish();
}

}  // namespace

void add_sweep(CLI::App& app, int& status) {
    auto command = std::make_shared<SweepCommand>();
    CLI::App* sub =
        app.add_subcommand("sweep", "A grid of key and value presets: bytes against KL, and its Pareto front");
    command->scored.add_to(*sub);
    sub->add_option("--k", command->grid.k, "Presets the keys are taken from, comma separated")
        ->required()
        ->delimiter(',');
    sub->add_option("--v", command->grid.v, "Presets the values are taken from")->required()->delimiter(',');
    sub->add_option("--group", command->grid.groups, "Group sizes (default: each preset's own)")->delimiter(',');
    sub->add_option("--residual", command->grid.residuals, "Residual lengths (default: each preset's own)")
        ->delimiter(',');
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
