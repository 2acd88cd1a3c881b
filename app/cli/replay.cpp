// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/base/read_file.h"
#include "core/base/safetensors.h"
#include "core/base/sha256.h"
#include "core/cache/replay.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

using nlohmann::json;

struct ReplayCommand {
    Common common;
    std::string in, layer, cache, out, expect;
    int t0 = 0;

    int operator()() const;
};

/// Every figure of a step, once, for writing and for comparing.
json step_json(const ReplayStep& s) {
    return {{"step", s.step},
            {"k_quantized_seen", s.k_quantized_seen},
            {"v_quantized_seen", s.v_quantized_seen},
            {"k_quantized_after", s.k_quantized_after},
            {"k_residual_after", s.k_residual_after},
            {"v_quantized_after", s.v_quantized_after},
            {"v_residual_after", s.v_residual_after},
            {"sha256_k", s.sha256_k},
            {"sha256_v", s.sha256_v}};
}

/// An earlier document of this command. That it has all figures is seen when they are compared.
Result<json> read_expectation(const std::string& path) {
    const auto text = read_file_or_pipe(path, size_t(1) << 30, interrupted_by_user());
    if (!text) return text.error();
    json j = json::parse(*text, nullptr, false);
    if (j.is_object() && j.contains("t0") && j.contains("steps") && j["steps"].is_array()) return j;
    return Error{ErrorCode::input, "cannot compare", path, "it is no document of replay: an object with t0 and steps",
                 "Write it with replay --out."};
}

/// What differs, in the order of the steps. All figures are counts and hashes, so they agree exactly or not at all.
Result<json> differences(const json& got, const json& expected, const std::string& path) {
    json found = json::array();
    const auto compare = [&](const json& step, const std::string& figure, const json& a, const json& b) {
        if (a != b) found.push_back({{"step", step}, {"figure", figure}, {"got", a}, {"expected", b}});
    };
    compare(nullptr, "t0", got["t0"], expected["t0"]);
    const json &mine = got["steps"], &theirs = expected["steps"];
    compare(nullptr, "number of steps", mine.size(), theirs.size());
    for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i)
        for (const auto& [figure, value] : mine[i].items()) {
            if (!theirs[i].is_object() || !theirs[i].contains(figure))
                return Error{ErrorCode::input, "cannot compare", path,
                             fmt::format("its step {} has no {}", i + 1, figure), "Write it with replay --out."};
            compare(mine[i]["step"], figure, value, theirs[i][figure]);
        }
    return found;
}

/// The first differences as lines; --json has them all.
void print_differences(const json& found) {
    constexpr size_t kMost = 20;
    for (size_t i = 0; i < std::min(found.size(), kMost); ++i) {
        const json& d = found[i];
        fmt::print(stderr, "differs: {}{} is {}, expected {}\n",
                   d["step"].is_null() ? "" : fmt::format("step {}, ", d["step"].dump()),
                   d["figure"].get_ref<const std::string&>(), d["got"].dump(), d["expected"].dump());
    }
    if (found.size() > kMost) fmt::print(stderr, "and {} more\n", found.size() - kMost);
}

int ReplayCommand::operator()() const {
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
    Job job(common);
    job.reads(in, "the recording (--in)");
    job.reads(expect, "the earlier document (--expect)");
    if (Status ok = job.writes(out, "--out"); !ok) return fail(common, ok.error());
    Result<json> expected = json();
    if (!expect.empty()) expected = read_expectation(expect);
    if (!expected) return fail(common, expected.error());
    const auto file = SafetensorsFile::open(in);
    if (!file) return fail(common, file.error());
    const auto k = file->tensor(layer + ".k"), v = file->tensor(layer + ".v");
    if (!k) return fail(common, k.error());
    if (!v) return fail(common, v.error());
    if (k->type != TensorType::f16 || v->type != TensorType::f16 || k->shape.size() != 3 || k->shape != v->shape)
        return fail(common, {ErrorCode::input, "cannot replay", in,
                             layer + ".k and " + layer + ".v must be F16 [n_kv_heads, tokens, head_dim] of one shape",
                             "Record them with that layout."});
    const auto k_values = k->values<uint16_t>(), v_values = v->values<uint16_t>();
    Recording recording{int(k->shape[0]), int(k->shape[1]), int(k->shape[2]), k_values.data(), v_values.data()};
    if (t0 < 1 || t0 > recording.n_tokens)
        return fail(common, {ErrorCode::usage, "wrong prompt length", "--prefill",
                             fmt::format("{} of {} recorded tokens", t0, recording.n_tokens), ""});
    auto kv =
        KvCache::create(*spec, {1, recording.n_kv_heads, recording.head_dim, recording.n_tokens}, common.kernel_path());
    if (!kv) return fail(common, kv.error());
    const auto steps = [&] {
        ProgressLine progress(common);
        const auto show = [&](int step) {
            progress.show(double(step) / std::max(1, recording.n_tokens - t0), fmt::format("step {}", step));
        };
        return replay(**kv, recording, t0, show, true, interrupted_by_user());
    }();
    if (!steps) return fail(common, steps.error());
    const bool whole = int(steps->size()) == recording.n_tokens - t0;
    if (!whole) job.interrupted();
    json j = provenance(nullptr, common.kernel_path());
    if (const auto sha = sha256_of_file(in)) j["recording"] = {{"file", in}, {"sha256", *sha}, {"layer", layer}};
    j["complete"] = whole;
    j["spec"] = cache, j["t0"] = t0, j["steps"] = json::array();
    for (const ReplayStep& s : *steps)
        j["steps"].push_back(step_json(s));
    const bool compare = !expect.empty() && whole;  // an interrupted replay would only differ in its length
    if (compare) {
        auto found = differences(j, *expected, expect);
        if (!found) return fail(common, found.error());
        j["expected"] = {{"file", expect}, {"holds", found->empty()}, {"differences", std::move(*found)}};
    }
    if (!out.empty()) {
        const Status written = write_output(out, j.dump(1) + "\n", interrupted_by_user());
        job.take(written);
        if (written && !common.quiet) fmt::print(stderr, "{} steps written to {}\n", steps->size(), out);
    }
    const bool differs = compare && !j["expected"]["holds"];
    if (differs)
        print_differences(j["expected"]["differences"]);
    else if (compare && !common.quiet)
        fmt::print(stderr, "{} steps are those of {}\n", steps->size(), expect);
    return common.json || out.empty() ? job.finish(std::move(j), differs) : job.finish(differs);
}

}  // namespace

void add_replay(CLI::App& app, int& status) {
    auto command = std::make_shared<ReplayCommand>();
    CLI::App* sub = app.add_subcommand(
        "replay", "Recorded keys and values through a cache, step by step, with a hash of what attention sees");
    command->common.add_to(*sub);
    sub->add_option("--in", command->in, "safetensors file with NAME.k and NAME.v, F16 [n_kv_heads, tokens, head_dim]")
        ->required();
    sub->add_option("--layer", command->layer, "NAME")->required();
    sub->add_option("--cache", command->cache, "Cache spec")->required();
    sub->add_option("--prefill", command->t0, "Tokens of the prompt")->required();
    add_output(*sub, "--out", command->out, "JSON file (default: stdout)");
    sub->add_option(
           "--expect", command->expect,
           "An earlier document of this command: its t0, the number of steps and every count and hash of every "
           "step must be the same, else what differs is listed and the exit status is 1")
        ->option_text("FILE");
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
