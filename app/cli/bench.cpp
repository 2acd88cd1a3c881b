// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/bench_measuring.h"
#include "app/cli/bench_run.h"
#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/report/provenance.h"
#include "core/session/prompt_library.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/ops.h"

namespace kvasir::cli {
namespace {

nlohmann::json to_json(const BenchRow& r, const Machine& machine) {
    const TimeSplit& t = r.split;
    const double memory = r.memory_limit(machine), roof = r.roofline(machine);
    return {{"spec", r.spec},
            {"depth", r.depth},
            {"lanes", r.lanes},
            {"prefill_tokens_per_second", r.prefill_rate},
            {"decode_tokens_per_second", {{"median", r.median}, {"min", r.min}, {"max", r.max}}},
            {"weight_bytes", r.weight_bytes},
            {"cache_bytes", r.cache_bytes},
            {"multiply_adds_per_step", r.multiply_adds},
            {"bytes_per_token", double(r.cache_bytes) / r.lanes / r.n_cached},
            {"memory_limit_tokens_per_second", memory},
            {"share_of_memory_limit", r.median / memory},
            {"roofline_tokens_per_second", roof},
            {"share_of_roofline", r.median / roof},
            {"append_ms", r.append * 1e-6},
            {"flushes", {{"steps", r.n_flushes}, {"slowest_ms", r.flush * 1e-6}}},
            {"time_split",
             {{"matmul", t.matmul},
              {"quantize", t.quantize},
              {"scores", t.scores},
              {"softmax", t.softmax},
              {"weighted_sum", t.weighted_sum},
              {"rotate", t.rotate},
              {"other", t.other}}}};
}

nlohmann::json to_json(const PromptRow& r, const Machine& machine) {
    return {{"spec", r.spec},
            {"tokens", r.tokens},
            {"tokens_per_second", r.rate},
            {"share_of_fma", r.share_of_fma(machine)}};
}

nlohmann::json to_json(const MeasuringRow& r) {
    return {{"spec", r.spec},
            {"depth", r.depth},
            {"step_ms", r.step_ms},
            {"kl_share", r.kl_share},
            {"layer_errors_share", r.layer_share}};
}

struct NotMeasured {
    std::string spec, what, why;
};

/// Everything one call measured.
struct Figures {
    std::vector<PromptRow> prompts;
    std::vector<BenchRow> rows;
    std::vector<MeasuringRow> measuring;
    std::vector<NotMeasured> not_measured;
    bool empty() const { return prompts.empty() && rows.empty() && measuring.empty() && not_measured.empty(); }
};

struct BenchCommand {
    Common common;
    std::vector<std::string> caches;
    std::vector<int> depths{0}, lanes{1};
    int tokens = 64, prompt = 512;
    bool measuring = false;

    int operator()() const;
    Status measure(Bench& bench, const std::vector<CacheSpec>& specs, const std::shared_ptr<const Model>& model,
                   int threads, ProgressLine& progress, Figures& figures) const;
    void print(const Figures& figures, const Machine& machine, int threads) const;
    nlohmann::json document(const Figures& figures, const Machine& machine, int threads, const Model& model) const;
};

Status BenchCommand::measure(Bench& bench, const std::vector<CacheSpec>& specs,
                             const std::shared_ptr<const Model>& model, int threads, ProgressLine& progress,
                             Figures& figures) const {
    const std::vector<int> text = model->tokenizer().encode(lighthouse_text(), SpecialTokens::as_text);
    const auto report = [&](double share, const char* what) { progress.show(share, what); };
    if (Status fits = bench.check(specs, depths, lanes, tokens); !fits) return fits;
    report(0, "measuring the machine");
    bench.measure_machine();
    const int prompt_tokens = std::min(prompt, model->config().context_length);
    if (prompt_tokens > 0)
        for (const CacheSpec& spec : specs) {
            report(0, "reading prompts");
            auto row = bench.prompt(spec, prompt_tokens, text);
            if (!row) return row.error();
            if (row->why.empty())
                figures.prompts.push_back(std::move(*row));
            else
                figures.not_measured.push_back({row->spec, fmt::format("prompt of {}", row->tokens), row->why});
        }
    for (const int depth : depths)
        for (const int n : lanes) {
            auto rows = bench.at_depth(specs, depth, n, tokens, text, report);
            if (!rows) return rows.error();
            bench.measure_machine();
            for (BenchRow& row : *rows) {
                if (!row.why.empty()) {
                    figures.not_measured.push_back(
                        {row.spec, fmt::format("depth {}, lanes {}", row.depth, row.lanes), row.why});
                    continue;
                }
                progress.note(fmt::format("{} at {}: {:.1f} steps/s", row.spec, depth, row.median));
                figures.rows.push_back(std::move(row));
            }
        }
    if (!measuring) return {};
    for (const int depth : depths)
        for (const CacheSpec& spec : specs) {
            report(0, "measuring what measuring costs");
            auto row = bench_measuring(model, spec, depth, tokens, threads, common.kernel_path(),
                                       std::string(lighthouse_text()));
            if (!row) return row.error();
            if (row->why.empty())
                figures.measuring.push_back(std::move(*row));
            else
                figures.not_measured.push_back({row->spec, fmt::format("measuring at {}", depth), row->why});
        }
    return {};
}

void BenchCommand::print(const Figures& figures, const Machine& machine, int threads) const {
    fmt::print("{} threads, {}: reads {:.1f} GB/s, {:.1f} GFLOP/s (fp32 multiply-add)\n", threads, kernels::simd_name(),
               machine.bandwidth_gbps, machine.fma_gflops);
    if (!figures.prompts.empty())
        fmt::print("\n{:<28} {:>8} {:>9} {:>15}\n", "cache", "prompt", "tokens/s", "of multiply-add");
    for (const PromptRow& r : figures.prompts)
        fmt::print("{:<28} {:>8} {:>9.1f} {:>14.1f}%\n", r.spec, r.tokens, r.rate, 100 * r.share_of_fma(machine));
    fmt::print("\n{:<28} {:>6} {:>5} {:>9} {:>20} {:>10} {:>9} {:>9} {:>9} {:>9}\n", "cache", "depth", "lanes",
               "prefill/s", "decode/s (min-max)", "cache MiB", "of memory", "of roof", "append ms", "flush ms");
    for (const BenchRow& r : figures.rows)
        fmt::print(
            "{:<28} {:>6} {:>5} {:>9.1f} {:>7.1f} ({:>5.1f}-{:>5.1f}) {:>10.2f} {:>8.1f}% {:>8.1f}% {:>9.3f} {:>9}\n",
            r.spec, r.depth, r.lanes, r.prefill_rate, r.median, r.min, r.max, double(r.cache_bytes) / 1048576.0,
            100 * r.median / r.memory_limit(machine), 100 * r.median / r.roofline(machine), r.append * 1e-6,
            r.n_flushes ? fmt::format("{:.3f}", r.flush * 1e-6) : "-");
    if (!figures.measuring.empty())
        fmt::print("\n{:<28} {:>6} {:>9} {:>14} {:>20}\n", "measuring, beside fp16", "depth", "step ms", "KL by token",
                   "and errors by layer");
    for (const MeasuringRow& r : figures.measuring)
        fmt::print("{:<28} {:>6} {:>9.2f} {:>13.1f}% {:>19.1f}%\n", r.spec, r.depth, r.step_ms, 100 * r.kl_share,
                   100 * r.layer_share);
    for (const NotMeasured& r : figures.not_measured)
        fmt::print("{:<28} {}: not measured: {}\n", r.spec, r.what, r.why);
    fmt::print("\ndecode/s counts steps: with several lanes each step gives one token to every lane.\n");
}

nlohmann::json BenchCommand::document(const Figures& figures, const Machine& machine, int threads,
                                      const Model& model) const {
    nlohmann::json j = provenance(&model, common.kernel_path());
    j["machine"] = {{"threads", threads},
                    {"memory_bandwidth_gbps", machine.bandwidth_gbps},
                    {"fma_gflops", machine.fma_gflops},
                    {"simd", kernels::simd_name()}};
    j["prompts"] = j["results"] = nlohmann::json::array();
    for (const PromptRow& r : figures.prompts)
        j["prompts"].push_back(to_json(r, machine));
    for (const BenchRow& r : figures.rows)
        j["results"].push_back(to_json(r, machine));
    for (const MeasuringRow& r : figures.measuring)
        j["measuring"].push_back(to_json(r));
    for (const NotMeasured& r : figures.not_measured)
        j["not_measured"].push_back({{"spec", r.spec}, {"what", r.what}, {"why", r.why}});
    return j;
}

int BenchCommand::operator()() const {
    std::vector<CacheSpec> specs;
    for (const std::string& text : caches) {
        auto spec = parse_cache_spec(text);
        if (!spec) return fail(common, spec.error());
        specs.push_back(std::move(*spec));
    }
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    ProgressLine progress(common);
    const int threads = common.threads > 0 ? common.threads : kernels::physical_cores();
    Bench bench(*model, threads, common.kernel_path());
    Figures figures;
    Job job(common);
    if (prompt > (*model)->config().context_length)
        job.note(fmt::format("--prompt {}: the model's context is {} tokens, and so long is the prompt", prompt,
                             (*model)->config().context_length));
    if (Status done = measure(bench, specs, *model, threads, progress, figures); !done) {
        if (figures.empty()) return fail(common, done.error());
        job.stop(done.error());
    }
    if (!figures.not_measured.empty()) job.missing();
    progress.note("");
    if (common.json) return job.finish(document(figures, bench.machine(), threads, **model));
    print(figures, bench.machine(), threads);
    return job.finish();
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
    auto command = std::make_shared<BenchCommand>();
    CLI::App* sub =
        app.add_subcommand("bench", "Prefill and decode speed at each depth, next to what the machine allows");
    command->common.add_engine_to(*sub);
    command->common.add_weights_to(*sub);
    sub->add_option("--cache", command->caches, "Cache spec, repeatable")->required();
    sub->add_option("--depth", command->depths, "Tokens in the cache before decoding starts, e.g. 0,1024,4096")
        ->delimiter(',')
        ->check(CLI::Range(0, 1000000));
    sub->add_option("--tokens", command->tokens, "Decode steps per figure")->check(CLI::Range(1, 100000));
    sub->add_option("--lanes", command->lanes, "Lanes in lock-step, e.g. 1,2,4; several specs share the lanes in turn")
        ->delimiter(',')
        ->check(CLI::Range(1, 64));
    sub->add_option("--prompt", command->prompt, "Tokens of the prompt read into each cache alone; 0: none")
        ->check(CLI::Range(0, 1000000));
    sub->add_flag("--measuring", command->measuring, "Also what measuring costs at each depth");
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
