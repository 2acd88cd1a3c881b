// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/common.h"
#include "core/base/atomic_file.h"
#include "core/base/safetensors.h"
#include "core/cache/replay.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

struct ReplayCommand {
    Common common;
    std::string in, layer, cache, out;
    int t0 = 0;

    int operator()() const;
};

int ReplayCommand::operator()() const {
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
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
    const auto steps = replay(**kv, recording, t0);
    if (!steps) return fail(common, steps.error());
    nlohmann::json j = provenance(nullptr, common.kernel_path());
    j["spec"] = cache, j["t0"] = t0, j["steps"] = nlohmann::json::array();
    for (const ReplayStep& s : *steps)
        j["steps"].push_back({{"step", s.step},
                              {"k_quantized_seen", s.k_quantized_seen},
                              {"v_quantized_seen", s.v_quantized_seen},
                              {"k_quantized_after", s.k_quantized_after},
                              {"k_residual_after", s.k_residual_after},
                              {"v_quantized_after", s.v_quantized_after},
                              {"v_residual_after", s.v_residual_after},
                              {"sha256_k", s.sha256_k},
                              {"sha256_v", s.sha256_v}});
    if (!out.empty()) {
        if (Status s = write_file_atomically(out, j.dump(1) + "\n"); !s) return fail(common, s.error());
        if (!common.quiet) fmt::print(stderr, "{} steps written to {}\n", steps->size(), out);
    }
    if (common.json || out.empty()) print_json(j);
    return 0;
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
    sub->add_option("--out", command->out, "JSON file (default: stdout)");
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
