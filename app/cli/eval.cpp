// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <cmath>

#include "app/cli/commands.h"
#include "app/cli/common.h"
#include "app/cli/drive.h"
#include "core/base/atomic_file.h"
#include "core/measure/statistics.h"
#include "core/report/csv.h"
#include "core/report/run_table.h"
#include "core/session/prompt_library.h"
#include "core/session/run.h"

namespace kvasir::cli {
namespace {

struct EvalCommand {
    Common common;
    std::string text_file, reference, per_token;
    std::vector<std::string> caches;
    int prefill = 128, tokens = 0;
    bool blind = false;

    int operator()() const;
};

int EvalCommand::operator()() const {
    std::string text(lighthouse_text());
    if (!text_file.empty()) {
        auto bytes = read_file(text_file);
        if (!bytes) return fail(common, bytes.error());
        text = std::move(*bytes);
    }
    size_t replaced = 0;
    text = valid_utf8(text, &replaced);
    Experiment e;
    auto lanes = parse_lanes(caches, reference, &e.reference);
    if (!lanes) return fail(common, lanes.error());
    e.lanes = std::move(*lanes);
    e.prompt = text, e.score_text = true, e.prefill = prefill, e.n_tokens = tokens > 0 ? tokens - prefill : 0;
    e.n_threads = common.threads, e.kernels = common.kernel_path(), e.layer_errors = false;
    if (tokens > 0 && tokens <= prefill)
        return fail(common, {ErrorCode::usage, "nothing to score", "--tokens",
                             fmt::format("{} tokens, of which {} are the prompt", tokens, prefill),
                             "Ask for more tokens than --prefill."});
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    auto run = Run::create(*model, e);
    if (!run) return fail(common, run.error());

    RunModel measured;
    ProgressLine progress(common);
    if (replaced) progress.note(fmt::format("note: {} invalid bytes were replaced by U+FFFD", replaced));
    const auto complete = drive(**run, **model, measured, progress);
    if (!complete) return fail(common, complete.error());
    if (!per_token.empty())
        if (Status s = write_file_atomically(per_token, per_token_csv(measured)); !s) return fail(common, s.error());

    std::vector<int> ids = measured.info().prompt_ids;
    for (const StepRecord& r : measured.lane(measured.info().experiment.reference))
        ids.push_back(r.token_id);
    nlohmann::json rows = run_lanes_json(measured, **run);
    for (auto& row : rows)
        row.erase("text");
    if (blind && *complete) {
        for (const LaneSetup& lane : e.lanes) {
            progress.note("blind forward: " + lane.spec.text);
            const auto nll = blind_nll(*model, lane.spec, ids, prefill, common.threads);
            if (!nll) return fail(common, nll.error());
            const double m = mean(*nll);
            rows.push_back({{"spec", lane.spec.text + " (blind forward)"},
                            {"long_spec", long_spec(lane.spec)},
                            {"requested", lane.spec.text},
                            {"active", "exact attention in one forward pass"},
                            {"why", "one forward pass never reads the cache: this says nothing about it"},
                            {"n_scored", nll->size()},
                            {"nll_mean", m},
                            {"ppl", std::exp(m)},
                            {"coverage", {{"k", 0.0}, {"v", 0.0}}}});
        }
    }
    if (common.json) {
        nlohmann::json j = document_head(model->get(), e.kernels);
        j["text"] = text_head(text_file.empty() ? "built-in lighthouse text" : text_file, text,
                              (*model)->tokenizer().encode(text, SpecialTokens::as_text).size());
        j["complete"] = *complete;
        j["protocol"] = {{"prefill", prefill},
                         {"n_tokens", ids.size()},
                         {"n_scored", (*run)->n_done()},
                         {"first_scored", prefill},
                         {"bos", (*model)->tokenizer().add_bos()},
                         {"compute", "fp32"}};
        j["reference"] = e.lanes[size_t(e.reference)].spec.text;
        j["noise_floor"] = {{"kl_mean", nullptr}, {"nll_mean", nullptr}, {"why", "not measured in this version"}};
        j["lanes"] = std::move(rows);
        print_json(j);
    } else {
        fmt::print("{}", run_table(measured, **run));
        for (const auto& row : rows)
            if (row["spec"].get<std::string>().find("(blind") != std::string::npos)
                fmt::print(
                    "{:<38} nll {:.5f}, 0 % of attention reads were quantized. This number says nothing about the "
                    "cache.\n",
                    row["spec"].get<std::string>(), row["nll_mean"].get<double>());
    }
    return *complete ? 0 : 130;
}

}  // namespace

void add_eval(CLI::App& app, int& status) {
    auto command = std::make_shared<EvalCommand>();
    CLI::App* sub =
        app.add_subcommand("eval", "Teacher-forced perplexity and divergence through the cache, token by token");
    command->common.add_engine_to(*sub);
    sub->add_option("--text", command->text_file, "Text file (default: the built-in lighthouse text)");
    sub->add_option("--cache", command->caches, "Cache spec, repeatable")->required();
    sub->add_option("--reference", command->reference, "Spec errors are measured against (default fp16)");
    sub->add_option("--prefill", command->prefill, "Tokens read as the prompt")->check(CLI::Range(1, 10000000));
    sub->add_option("--tokens", command->tokens, "Tokens in all, prompt included (default: the whole text)")
        ->check(CLI::Range(2, 10000000));
    sub->add_option("--per-token", command->per_token, "Write one CSV line per lane and token");
    sub->add_flag("--blind", command->blind, "Add a row per spec from one forward pass, which never reads the cache");
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
