// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/bench_run.h"
#include "app/cli/commands.h"
#include "app/cli/common.h"
#include "core/report/provenance.h"
#include "core/session/prompt_library.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/ops.h"

namespace kvasir::cli {
namespace {

nlohmann::json to_json(const BenchRow& r) {
    const TimeSplit& t = r.split;
    return {{"spec", r.spec},
            {"depth", r.depth},
            {"lanes", r.lanes},
            {"prefill_tokens_per_second", r.prefill_rate},
            {"decode_tokens_per_second", {{"median", r.median}, {"min", r.min}, {"max", r.max}}},
            {"weight_bytes", r.weight_bytes},
            {"cache_bytes", r.cache_bytes},
            {"multiply_adds_per_step", r.multiply_adds},
            {"bytes_per_token", double(r.cache_bytes) / r.lanes / r.n_cached},
            {"memory_limit_tokens_per_second", r.memory_limit},
            {"share_of_memory_limit", r.median / r.memory_limit},
            {"roofline_tokens_per_second", r.roofline},
            {"share_of_roofline", r.median / r.roofline},
            {"time_split",
             {{"matmul", t.matmul},
              {"quantize", t.quantize},
              {"scores", t.scores},
              {"softmax", t.softmax},
              {"weighted_sum", t.weighted_sum},
              {"rotate", t.rotate},
              {"other", t.other}}}};
}

struct BenchCommand {
    Common common;
    std::vector<std::string> caches;
    std::vector<int> depths{0}, lanes{1};
    int tokens = 64;

    int operator()() const;
};

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
    progress.show(0, "measuring the machine");
    const Machine machine = bench.measure_machine();

    nlohmann::json rows = nlohmann::json::array();
    if (!common.json) {
        fmt::print("{} threads, {}: reads {:.1f} GB/s, {:.1f} GFLOP/s (fp32 multiply-add)\n", threads,
                   kernels::simd_name(), machine.bandwidth_gbps, machine.fma_gflops);
        fmt::print("{:<28} {:>6} {:>5} {:>9} {:>20} {:>10} {:>9} {:>9}\n", "cache", "depth", "lanes", "prefill/s",
                   "decode/s (min-max)", "cache MiB", "of memory", "of roof");
    }
    const std::vector<int> text = (*model)->tokenizer().encode(lighthouse_text(), SpecialTokens::as_text);
    for (const int depth : depths)
        for (const int n : lanes) {
            const auto measured = bench.at_depth(specs, depth, n, tokens, text, machine,
                                                 [&](double share, const char* what) { progress.show(share, what); });
            if (!measured) return fail(common, measured.error());
            for (const BenchRow& r : *measured) {
                rows.push_back(to_json(r));
                if (common.json) continue;
                progress.note("");
                fmt::print("{:<28} {:>6} {:>5} {:>9.1f} {:>8.1f} ({:>4.1f}-{:>5.1f}) {:>10.2f} {:>8.1f}% {:>8.1f}%\n",
                           r.spec, r.depth, r.lanes, r.prefill_rate, r.median, r.min, r.max,
                           double(r.cache_bytes) / 1048576.0, 100 * r.median / r.memory_limit,
                           100 * r.median / r.roofline);
                std::fflush(stdout);
            }
        }
    if (common.json) {
        nlohmann::json j = provenance(model->get(), common.kernel_path());
        j["machine"] = {{"threads", threads},
                        {"memory_bandwidth_gbps", machine.bandwidth_gbps},
                        {"fma_gflops", machine.fma_gflops},
                        {"simd", kernels::simd_name()}};
        j["results"] = std::move(rows);
        print_json(j);
    } else {
        fmt::print("decode/s counts steps: with several lanes each step gives one token to every lane.\n");
    }
    return 0;
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
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
