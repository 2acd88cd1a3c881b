// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/base/safetensors.h"
#include "core/cache/quantize_tensor.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

struct QuantizeCommand {
    Common common;
    std::string in, tensor, side, cache, out;
    int tokens = 0;  ///< leading ones; 0: all

    int operator()() const;
};

/// The first n tokens of each head of [n_kv_heads, n_tokens, head_dim].
std::vector<uint16_t> leading_tokens(const TensorView& view, int n) {
    const std::vector<uint16_t> all = view.values<uint16_t>();
    const auto per_token = std::ptrdiff_t(view.shape[2]), per_head = std::ptrdiff_t(view.shape[1]) * per_token;
    std::vector<uint16_t> out;
    for (std::ptrdiff_t head = 0; head < std::ptrdiff_t(view.shape[0]); ++head)
        out.insert(out.end(), all.begin() + head * per_head, all.begin() + head * per_head + n * per_token);
    return out;
}

int QuantizeCommand::operator()() const {
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
    Job job(common);
    job.reads(in, "the recording (--in)");
    if (Status ok = job.writes(out, "--out"); !ok) return fail(common, ok.error());
    const auto file = SafetensorsFile::open(in);
    if (!file) return fail(common, file.error());
    const auto view = file->tensor(tensor);
    if (!view) return fail(common, view.error());
    if (view->type != TensorType::f16 || view->shape.size() != 3 || view->n_elements == 0)
        return fail(common, {ErrorCode::input, fmt::format("cannot quantize '{}'", tensor), in,
                             "it is not F16 [n_kv_heads, tokens, head_dim]", "Record it with the record command."});
    if (tokens > view->shape[1])
        return fail(common, {ErrorCode::usage, "too many tokens", "--tokens",
                             fmt::format("{} of {} in the file", tokens, view->shape[1]), "Ask for fewer."});
    const int n_heads = int(view->shape[0]), n_tokens = tokens > 0 ? tokens : int(view->shape[1]),
              head_dim = int(view->shape[2]);
    const auto x = leading_tokens(*view, n_tokens);
    const auto q = quantize_tensor(*spec, side == "k" ? Side::k : Side::v, x.data(), n_heads, n_tokens, head_dim);
    if (!q) return fail(common, q.error());

    const std::vector<int64_t> shape{n_heads, n_tokens, head_dim};
    const std::vector<int64_t> constants(q->stored.constants_shape.begin(), q->stored.constants_shape.end());
    std::vector<TensorOut> tensors{
        {"codes", TensorType::u8, shape, q->stored.codes.data()},
        {"packed", TensorType::u8, {int64_t(q->packed.size())}, q->packed.data()},
    };
    if (!q->stored.scale.empty()) tensors.push_back({"scale", TensorType::f16, constants, q->stored.scale.data()});
    if (!q->stored.offset.empty()) tensors.push_back({"zero", TensorType::f16, constants, q->stored.offset.data()});
    if (dequantizes_to_fp32(spec->side(side == "k" ? Side::k : Side::v)))
        tensors.push_back({"dequantized", TensorType::f32, shape, q->values.data()});
    else
        tensors.push_back({"dequantized", TensorType::f16, shape, q->dequantized.data()});
    const std::string bytes = safetensors_bytes(
        tensors, {{"tensor", tensor}, {"side", side}, {"spec", cache}, {"long_spec", long_spec(*spec)}});
    if (interrupted_by_user()()) return fail(common, stopped_by_user());
    const Status written = write_output(out, bytes, interrupted_by_user());
    job.take(written);

    if (common.json) {
        nlohmann::json j = provenance(nullptr, KernelPath::fused);
        j["spec"] = cache, j["long_spec"] = long_spec(*spec), j["tensor"] = tensor, j["side"] = side, j["out"] = out;
        for (const TensorOut& t : tensors)
            j["shapes"][t.name] = t.shape;
        return job.finish(std::move(j));
    }
    if (written && !common.quiet)
        fmt::print("{}: {} as {} of {}, {} tokens: {} code bytes, {} groups, written to {}\n", cache, tensor,
                   side == "k" ? "keys" : "values", in, n_tokens, q->packed.size(), q->stored.scale.size(), out);
    return job.finish();
}

}  // namespace

void add_quantize(CLI::App& app, int& status) {
    auto command = std::make_shared<QuantizeCommand>();
    CLI::App* sub =
        app.add_subcommand("quantize", "One recorded K or V tensor through a codec, as the original packs it");
    command->common.add_to(*sub);
    sub->add_option("--in", command->in, "safetensors file")->required();
    sub->add_option("--tensor", command->tensor, "Its tensor, F16 [n_kv_heads, tokens, head_dim]")->required();
    sub->add_option("--side", command->side, "k or v: which half of the scheme")
        ->required()
        ->check(CLI::IsMember({"k", "v"}));
    sub->add_option("--cache", command->cache, "Cache spec")->required();
    sub->add_option("--tokens", command->tokens, "Only the first tokens (default: all)")
        ->check(CLI::Range(1, 100000000));
    add_output(*sub, "--out", command->out, "safetensors file: codes, packed, scale, zero, dequantized")->required();
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
