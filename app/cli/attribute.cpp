// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/scheme_table.h"
#include "core/report/run_table.h"
#include "core/session/attribution.h"

namespace kvasir::cli {
namespace {

struct AttributeCommand {
    ScoredText scored;
    std::string cache;
    std::vector<int> layers;

    int operator()() const;
};

nlohmann::json figures_json(const SchemeFigures& f) {
    if (!f.measured()) return {{"spec", f.spec.text}, {"kl_mean", nullptr}, {"why", f.why}};
    return {{"spec", f.spec.text}, {"kl_mean", f.kl.value}, {"n_scored", f.summary.n_scored}};
}

int AttributeCommand::operator()() const {
    const Common& common = scored.common;
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    const auto pairs = attribution_pairs(*spec, (*model)->config().n_layers, layers);
    if (!pairs) return fail(common, pairs.error());
    std::vector<CacheSpec> specs{*spec};
    for (const AttributionPair& pair : *pairs)
        for (const std::string& text : {pair.only_this, pair.all_but_this}) {
            auto one = parse_cache_spec(text);
            if (!one) return fail(common, one.error());
            specs.push_back(std::move(*one));
        }
    Job job(common);
    auto outcome = scored.evaluate(*model, specs, job);
    if (!outcome) return fail(common, outcome.error());
    const SchemeBatches& batches = outcome->batches;
    if (!batches.schemes[0].failure.empty())
        return fail(common, {ErrorCode::input, "cannot attribute the error", cache, batches.schemes[0].failure,
                             "Choose a scheme that this model's cache can hold."});

    nlohmann::json rows = nlohmann::json::array();
    for (size_t i = 0; i < pairs->size(); ++i)
        rows.push_back({{"layer", (*pairs)[i].layer},
                        {"side", (*pairs)[i].side == Side::k ? "k" : "v"},
                        {"only_this", figures_json(batches.schemes[1 + 2 * i])},
                        {"all_but_this", figures_json(batches.schemes[2 + 2 * i])}});
    if (common.json) {
        nlohmann::json j = std::move(outcome->head);
        j["spec"] = cache, j["long_spec"] = long_spec(*spec), j["rows"] = std::move(rows),
        j["all"] = figures_json(batches.schemes[0]);
        return job.finish(std::move(j));
    }
    const auto figure = [](const SchemeFigures& f) { return f.failure.empty() ? kl_text(f.kl) : "failed"; };
    fmt::print("{:>5} {:>4} {:>12} {:>14}\n", "layer", "side", "only this", "all but this");
    for (size_t i = 0; i < pairs->size(); ++i)
        fmt::print("{:>5} {:>4} {:>12} {:>14}\n", (*pairs)[i].layer, (*pairs)[i].side == Side::k ? "k" : "v",
                   figure(batches.schemes[1 + 2 * i]), figure(batches.schemes[2 + 2 * i]));
    fmt::print("\n{} everywhere: {}. Mean KL against fp16, nats, {} tokens scored.\n{}", cache,
               figure(batches.schemes[0]), batches.n_scored, noise_floor_line(batches.noise_floor));
    for (const SchemeFigures& f : batches.schemes)
        if (!f.failure.empty()) fmt::print("{}: {}\n", f.spec.text, f.failure);
    return job.finish();
}

}  // namespace

void add_attribute(CLI::App& app, int& status) {
    auto command = std::make_shared<AttributeCommand>();
    CLI::App* sub = app.add_subcommand("attribute", "Which layer and side a scheme's error comes from");
    command->scored.add_to(*sub);
    sub->add_option("--cache", command->cache, "A preset, with options or without")->required();
    sub->add_option("--layers", command->layers, "Only these layers, comma separated, from 0")->delimiter(',');
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
