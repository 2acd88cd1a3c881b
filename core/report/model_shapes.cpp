// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/model_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/cache/spec_text.h"
#include "core/model/gguf.h"
#include "core/model/model_config.h"

namespace kvasir {
namespace {

ModelShape shape(std::string name, std::string title, int n_layers, int n_heads, int n_kv_heads, int head_dim,
                 int n_embd, int n_ff, int n_vocab, int context) {
    ModelShape s;
    s.name = std::move(name), s.title = std::move(title);
    s.n_layers = n_layers, s.n_heads = n_heads, s.n_kv_heads = n_kv_heads, s.head_dim = head_dim;
    s.n_embd = n_embd, s.n_ff = n_ff, s.n_vocab = n_vocab, s.context_length = context;
    return s;
}

ModelShape tied(ModelShape s) {
    s.tied = true;
    return s;
}

ModelShape qwen(ModelShape s) {
    s.qkv_bias = true;
    return s;
}

ModelShape gemma(ModelShape s) {
    s.tied = true, s.norms_per_layer = 4;
    s.note =
        "every second layer attends to 4096 tokens only: a program that uses this stores less than is counted here";
    return s;
}

ModelShape sliding(ModelShape s, int window) {
    s.note =
        fmt::format("its published configuration has a sliding window of {} tokens, which is not counted here", window);
    return s;
}

std::vector<ModelShape> make_shapes() {
    return {
        //    name            title           layers heads kv  dim  embd   ff    vocab  context
        shape("llama-2-7b", "Llama-2-7B", 32, 32, 32, 128, 4096, 11008, 32000, 4096),
        shape("llama-2-13b", "Llama-2-13B", 40, 40, 40, 128, 5120, 13824, 32000, 4096),
        shape("llama-3-8b", "Llama-3-8B", 32, 32, 8, 128, 4096, 14336, 128256, 8192),
        sliding(shape("mistral-7b", "Mistral-7B-v0.1", 32, 32, 8, 128, 4096, 14336, 32000, 32768), 4096),
        qwen(tied(shape("qwen2.5-0.5b", "Qwen2.5-0.5B", 24, 14, 2, 64, 896, 4864, 151936, 32768))),
        qwen(tied(shape("qwen2.5-1.5b", "Qwen2.5-1.5B", 28, 12, 2, 128, 1536, 8960, 151936, 131072))),
        qwen(tied(shape("qwen2.5-3b", "Qwen2.5-3B", 36, 16, 2, 128, 2048, 11008, 151936, 32768))),
        qwen(shape("qwen2.5-7b", "Qwen2.5-7B", 28, 28, 4, 128, 3584, 18944, 152064, 131072)),
        qwen(shape("qwen2.5-14b", "Qwen2.5-14B", 48, 40, 8, 128, 5120, 13824, 152064, 131072)),
        qwen(shape("qwen2.5-32b", "Qwen2.5-32B", 64, 40, 8, 128, 5120, 27648, 152064, 131072)),
        qwen(shape("qwen2.5-72b", "Qwen2.5-72B", 80, 64, 8, 128, 8192, 29568, 152064, 131072)),
        gemma(shape("gemma-2-2b", "Gemma-2-2B", 26, 8, 4, 256, 2304, 9216, 256000, 8192)),
        gemma(shape("gemma-2-9b", "Gemma-2-9B", 42, 16, 8, 256, 3584, 14336, 256000, 8192)),
        gemma(shape("gemma-2-27b", "Gemma-2-27B", 46, 32, 16, 128, 4608, 36864, 256000, 8192)),
        sliding(shape("phi-3-mini", "Phi-3-mini", 32, 32, 32, 96, 3072, 8192, 32064, 4096), 2047),
        sliding(shape("phi-3-medium", "Phi-3-medium", 40, 40, 10, 128, 5120, 17920, 32064, 4096), 2047),
        shape("tinyllama", "TinyLlama-1.1B", 22, 32, 4, 64, 2048, 5632, 32000, 2048),
        tied(shape("smollm2-135m", "SmolLM2-135M", 30, 9, 3, 64, 576, 1536, 49152, 8192)),
        tied(shape("smollm2-360m", "SmolLM2-360M", 32, 15, 5, 64, 960, 2560, 49152, 8192)),
        tied(shape("smollm2-1.7b", "SmolLM2-1.7B", 24, 32, 32, 64, 2048, 8192, 49152, 8192)),
    };
}

}  // namespace

uint64_t ModelShape::n_parameters() const {
    const uint64_t embd = uint64_t(n_embd), vocab = uint64_t(n_vocab), ff = uint64_t(n_ff);
    const uint64_t q = uint64_t(n_heads) * uint64_t(head_dim), kv = uint64_t(n_kv_heads) * uint64_t(head_dim);
    const uint64_t attention = 2 * embd * q + 2 * embd * kv + (qkv_bias ? q + 2 * kv : 0);
    const uint64_t layer = attention + 3 * embd * ff + uint64_t(norms_per_layer) * embd;
    return (tied ? 1 : 2) * vocab * embd + uint64_t(n_layers) * layer + embd;
}

const std::vector<ModelShape>& model_shapes() {
    static const std::vector<ModelShape> shapes = make_shapes();
    return shapes;
}

Result<ModelShape> find_model_shape(std::string_view name) {
    std::string wanted(name);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    std::vector<std::string> names;
    for (const ModelShape& s : model_shapes()) {
        if (s.name == wanted) return s;
        names.push_back(s.name);
    }
    return Error{
        ErrorCode::usage, "unknown model shape", fmt::format("'{}'", name),
        fmt::format("only {} are in the table", spec_text::list(names)),
        fmt::format("Nearest: {}. Any GGUF file can be named with --model.", spec_text::nearest(wanted, names))};
}

Result<ModelShape> model_file_shape(const std::string& path, uint64_t* weight_bytes) {
    const auto file = GgufFile::open(path);
    if (!file) return file.error();
    const auto c = read_model_config(**file);
    if (!c) return c.error();
    *weight_bytes = 0;
    for (const GgufTensor& tensor : (*file)->tensors())
        *weight_bytes += tensor.n_bytes;
    ModelShape s = shape(path, c->name.empty() ? path : c->name, c->n_layers, c->n_heads, c->n_kv_heads, c->head_dim,
                         c->n_embd, c->n_ff, c->n_vocab, c->context_length);
    s.tied = c->tied;
    s.qkv_bias = (*file)->tensor("blk.0.attn_q.bias") != nullptr;
    return s;
}

}  // namespace kvasir
