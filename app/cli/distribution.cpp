// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/report/provenance.h"
#include "core/session/rotation_study.h"

namespace kvasir::cli {
namespace {

using nlohmann::json;

constexpr int kDefaultTokens = 512;

struct DistributionCommand {
    Common common;
    std::string text_file, side, cache;
    DistributionRequest request;
    int tokens = 0;  ///< 0: as many as there are, at most kDefaultTokens

    int operator()();
};

json values_json(const ValueStatistics& s, const std::vector<uint32_t>& counts, const DistributionFrame* error) {
    return {{"mean", s.mean},
            {"sigma", s.sigma},
            {"kurtosis", s.kurtosis},
            {"max_over_sigma", s.max_over_sigma},
            {"histogram", counts},
            {"mse", error ? json(error->mse) : json(nullptr)},
            {"sqnr_db", error ? json(error->sqnr_db) : json(nullptr)}};
}

json study_json(const RotationStudy& study) {
    // Both histograms lie on the bins of one frame, so that they can be compared.
    const DistributionFrame& f = study.rotated ? *study.rotated : *study.plain;
    const DistributionFrame& scheme = study.scheme_rotates || !study.plain ? f : *study.plain;
    json j = {{"n_tokens", f.n_tokens},
              {"n_quantized", scheme.n_quantized},
              {"rotated", study.scheme_rotates},
              {"bins", {{"low", f.low}, {"high", f.high}, {"n", f.before.size()}}},
              {"before", values_json(f.before_stats, f.before, study.plain ? &*study.plain : nullptr)},
              {"after", nullptr},
              {"why", study.why_missing},
              {"mse", scheme.mse},
              {"sqnr_db", scheme.sqnr_db},
              {"levels", scheme.levels},
              {"channel_low", f.channel_low},
              {"channel_high", f.channel_high}};
    if (study.rotated) j["after"] = values_json(f.after_stats, f.after, &f);
    return j;
}

std::string figure(const json& value) {
    return value.is_null() ? "–" : fmt::format("{:.4g}", value.get<double>());
}

void print_for_people(const json& j) {
    const bool has_after = !j["after"].is_null();
    const auto row = [&](const char* name, const char* key) {
        fmt::print("{:<16} {:>12} {:>12}\n", name, figure(j["before"][key]), has_after ? figure(j["after"][key]) : "–");
    };
    fmt::print("{} {} of layer {}: {} tokens, {} of them quantized\n\n", j["spec"].get<std::string>(),
               j["side"] == "k" ? "keys" : "values", j["layer"].get<int>(), j["n_tokens"].get<int>(),
               j["n_quantized"].get<int>());
    fmt::print("{:<16} {:>12} {:>12}\n", "rotation", "without", "with");
    row("kurtosis", "kurtosis"), row("max/sigma", "max_over_sigma"), row("sigma", "sigma");
    row("MSE", "mse"), row("SQNR (dB)", "sqnr_db");
    fmt::print("\nMSE and SQNR: the scheme's codec with its rotation switched off and on; the scheme itself is '{}'.\n",
               j["rotated"].get<bool>() ? "with" : "without");
    if (const auto why = j["why"].get<std::string>(); !why.empty()) fmt::print("{}\n", why);

    const auto& before = j["before"]["histogram"];
    const double low = j["bins"]["low"], width = (j["bins"]["high"].get<double>() - low) / double(before.size());
    const auto most = [](const json& counts) {
        return std::max(size_t{1}, std::max_element(counts.begin(), counts.end())->get<size_t>());
    };
    fmt::print("\n{:>10}  {:<30}  {}\n", "value", "without", has_after ? "with" : "");
    for (size_t i = 0; i < before.size(); ++i) {
        const auto bar = [&](const json& counts) {
            const auto n = counts[i].get<size_t>();
            return std::string((n * 30 + most(counts) - 1) / most(counts), '#');
        };
        fmt::print("{:>10.4g}  {:<30}  {}\n", low + (double(i) + 0.5) * width, bar(before),
                   has_after ? bar(j["after"]["histogram"]) : "");
    }
}

int DistributionCommand::operator()() {
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
    const auto text = text_or_built_in(text_file, common);
    if (!text) return fail(common, text.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    const int n_text = int((*model)->encode_prompt(*text, false).size());
    Experiment e;
    e.prompt = *text;
    // One token more is there than is read as the prompt: a run scores at least one.
    const int most = std::min(n_text, (*model)->config().context_length) - 1;
    e.prefill = tokens > 0 ? tokens : std::max(1, std::min(kDefaultTokens, most));
    e.n_threads = common.threads, e.kernels = common.kernel_path();
    request.side = side == "k" ? Side::k : Side::v;
    ProgressLine progress(common);
    const auto study = study_rotation(
        *model, e, *spec, request, [&](double share, const char* what) { progress.show(share, what); },
        interrupted_by_user());
    if (!study) return fail(common, study.error());
    json j = study_json(*study);
    j["spec"] = cache, j["long_spec"] = long_spec(*spec), j["layer"] = request.layer, j["side"] = side;
    j["head"] = request.kv_head < 0 ? json(nullptr) : json(request.kv_head);
    if (common.json) {
        j.update(provenance(model->get(), common.kernel_path()));
        j["text"] = text_head(text_file, *text, size_t(n_text));
        return Job(common).finish(std::move(j));
    }
    progress.note("");
    print_for_people(j);
    return 0;
}

}  // namespace

void add_distribution(CLI::App& app, int& status) {
    auto command = std::make_shared<DistributionCommand>();
    command->request.n_bins = 48;
    CLI::App* sub =
        app.add_subcommand("distribution", "Values of one layer before and after the rotation, and their error");
    command->common.add_engine_to(*sub);
    sub->add_option("--text", command->text_file, "Text file (default: the built-in lighthouse text)");
    sub->add_option("--layer", command->request.layer, "Layer, from 0")->required();
    sub->add_option("--side", command->side, "k or v")->required()->check(CLI::IsMember({"k", "v"}));
    sub->add_option("--cache", command->cache, "Cache spec")->required();
    sub->add_option("--head", command->request.kv_head, "KV head, from 0 (default: all together)")
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--tokens", command->tokens, "Tokens from the beginning (default: the text, 512 at most)")
        ->check(CLI::Range(1, 10000000));
    sub->add_option("--bins", command->request.n_bins, "Bins of the histograms")->check(CLI::Range(2, 4096));
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
