// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "core/base/byte_size.h"
#include "core/report/capacity.h"

namespace kvasir {
namespace {

/// What the article says (huggingface/blog kv-cache-quantization.md, commit 076da628). Everything else is computed.
constexpr double kPublishedExact = 40'000, kPublishedQuantized = 128'000;  // tokens on one 80 GB card
constexpr int64_t kPublishedTokens = 10'000;                               // "about 5 GB"
constexpr double kPublishedSaving = 2.5;
constexpr double kPublishedMemory = 80e9;

CacheSpec spec_of(const char* text) {
    return parse_cache_spec(text).value();  // built-in presets
}

}  // namespace

std::string explain_published_capacity() {
    const ModelShape shape = find_model_shape("llama-2-7b").value();
    const CacheSpec exact = spec_of("fp16"), quantized = spec_of("quanto:4");
    CapacityQuestion question{shape, uint64_t(kPublishedMemory), weight_bytes(shape, 16), {}};
    const double left = kPublishedMemory - double(question.weight_bytes);
    const CapacityRow fp16 = capacity_row(question, exact), int4 = capacity_row(question, quantized);

    std::string out =
        fmt::format("{}, weights at 16 bits ({}), memory {:.0f} GB, {} for the rest\n\n", shape.title,
                    byte_size_text(question.weight_bytes), kPublishedMemory / 1e9, byte_size_text(uint64_t(left)));
    out += fmt::format(
        "40k against 128k tokens\n"
        "  published: {:.0f} tokens with fp16, {:.0f} with the quantized cache (bits not stated): {:.2f} times\n"
        "  bytes alone: fp16 {} tokens, quanto:4 {}: {:.2f} times\n"
        "  at {:.0f} tokens the fp16 cache takes {}: the cache is not what ran out first. Beside it, {:.0f} bytes per\n"
        "  token would have to be in memory with fp16, {:.0f} with the quantized cache, for these lengths to be the "
        "limit\n",
        kPublishedExact, kPublishedQuantized, kPublishedQuantized / kPublishedExact, fp16.max_context, int4.max_context,
        double(int4.max_context) / double(fp16.max_context), kPublishedExact,
        byte_size_text(uint64_t(fp16.bytes_per_token * kPublishedExact)), left / kPublishedExact - fp16.bytes_per_token,
        left / kPublishedQuantized - int4.bytes_per_token);
    for (const Transient t : {Transient::logits32, Transient::mlp, Transient::layer_copy}) {
        question.transients.push_back(t);
        out += fmt::format("  {:<10} {:>7} bytes per token (fp16), {:>7} (quanto:4)\n", transient_name(t),
                           transient_bytes_per_token(t, shape, exact), transient_bytes_per_token(t, shape, quantized));
    }
    const CapacityRow fp16_all = capacity_row(question, exact), int4_all = capacity_row(question, quantized);
    out += fmt::format("  with all of these beside the cache: fp16 {} tokens, quanto:4 {}: {:.2f} times\n\n",
                       fp16_all.max_context, int4_all.max_context,
                       double(int4_all.max_context) / double(fp16_all.max_context));

    const uint64_t bytes = cache_bytes(exact, shape.cache(), kPublishedTokens, kPublishedTokens).total();
    out += fmt::format(
        "5 GB at {} tokens\n"
        "  2 sides x {} layers x {} heads x {} channels x 2 bytes x {} tokens = {} bytes = {:.2f} GB = {}\n\n",
        kPublishedTokens, shape.n_layers, shape.n_kv_heads, shape.head_dim, kPublishedTokens, bytes,
        double(bytes) / 1e9, byte_size_text(bytes));

    // (weights + exact n) / (weights + quantized n) = saving, solved for n
    const double weights = double(question.weight_bytes);
    const double even =
        (kPublishedSaving - 1) * weights / (fp16.bytes_per_token - kPublishedSaving * int4.bytes_per_token);
    const double window = double(int4.fixed_bytes) + int4.bytes_per_token * double(kPublishedTokens);
    const double copy = double(transient_bytes_per_token(Transient::layer_copy, shape, quantized));
    out += fmt::format(
        "2.5 times against {:.2f} times\n"
        "  bits: 16 / {:.2f} = {:.2f}; bytes per token: {:.0f} / {:.0f} = {:.2f}\n"
        "  with the full exact window at {} tokens: {:.2f}\n"
        "  with one layer rebuilt at each step ({:.0f} bytes per token more): {:.2f}\n"
        "  weights and cache together: {:.2f} at {} tokens, and {:.1f} only from {:.0f} tokens on\n"
        "  the article does not say what its {:.1f} covers\n",
        fp16.bytes_per_token / int4.bytes_per_token, nominal_bits_per_value(quantized, shape.head_dim),
        16 / nominal_bits_per_value(quantized, shape.head_dim), fp16.bytes_per_token, int4.bytes_per_token,
        fp16.bytes_per_token / int4.bytes_per_token, kPublishedTokens, double(bytes) / window, copy,
        fp16.bytes_per_token / (int4.bytes_per_token + copy),
        (weights + double(bytes)) / (weights + int4.bytes_per_token * double(kPublishedTokens)), kPublishedTokens,
        kPublishedSaving, even, kPublishedSaving);
    return out;
}

}  // namespace kvasir
