// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/utf8.h"
#include "core/model/gguf.h"
#include "core/model/gguf_finite.h"
#include "core/model/gguf_types.h"
#include "kernels/cpu/attention.h"

namespace kvasir {

namespace {

constexpr int kMaxLayers = 512, kMaxHeads = 4096, kMaxStatedDim = 1 << 20;
constexpr int kMaxEmbd = 1 << 20, kMaxFf = 1 << 22, kMaxContext = 1 << 24;
constexpr int64_t kMaxSplits = 65535;

/// Reads one file; the first refusal is kept and later readings go on with harmless values.
class ConfigReader {
 public:
    explicit ConfigReader(const GgufFile& file) : file_(file) {}

    Result<ModelConfig> read() {
        kind();
        if (!error_) shape();
        if (!error_) rope();
        if (!error_) unsupported_features();
        if (!error_) tensors();
        if (error_) return *error_;
        return config_;
    }

 private:
    void refuse(std::string why, std::string hint = "Open a llama-architecture model in GGUF form.") {
        if (!error_) error_ = file_.refusal(std::move(why), std::move(hint));
    }
    void warn(std::string text) { config_.warnings.push_back(std::move(text)); }

    int integer(const std::string& key, int64_t lo, int64_t hi, std::optional<int64_t> absent = std::nullopt) {
        if (absent && !file_.has(key)) return int(*absent);
        const Result<int64_t> value = file_.integer(key, lo, hi);
        if (value) return int(*value);
        if (!error_) error_ = value.error();
        return int(lo);
    }

    /// A number given as any numeric type.
    double number(const std::string& key, double absent) {
        if (!file_.has(key)) return absent;
        if (const auto real = file_.real(key)) return *real;
        const auto whole = file_.integer(key, -(int64_t(1) << 53), int64_t(1) << 53);
        if (whole) return double(*whole);
        if (!error_) error_ = file_.real(key).error();
        return absent;
    }

    void kind() {
        const int part = integer("split.no", 0, kMaxSplits, 0), parts = integer("split.count", 0, kMaxSplits, 1);
        if (!error_ && parts > 1)
            return refuse(fmt::format("this is part {} of {} of a split model", part + 1, parts),
                          "Join the parts into one file with `llama-gguf-split --merge`, starting from part 1.");
        const auto type = file_.string("general.type");
        if (type && *type != "model")
            return refuse(fmt::format("not a language model (general.type is \"{}\")", printable(*type)));
        const auto arch = file_.string("general.architecture");
        if (!arch) return refuse("general.architecture is missing or not a string");
        if (*arch != "llama") return refuse(fmt::format("architecture \"{}\" is not supported", printable(*arch)));
        config_.arch = std::string(*arch);
        if (const auto name = file_.string("general.name")) config_.name = printable(*name);
    }

    void shape() {
        ModelConfig& c = config_;
        c.n_layers = integer("llama.block_count", 1, kMaxLayers);
        c.n_embd = integer("llama.embedding_length", 1, kMaxEmbd);
        c.n_ff = integer("llama.feed_forward_length", 1, kMaxFf);
        c.n_heads = integer("llama.attention.head_count", 1, kMaxHeads);
        c.n_kv_heads = integer("llama.attention.head_count_kv", 1, kMaxHeads, c.n_heads);
        c.context_length = integer("llama.context_length", 1, kMaxContext);
        if (error_) return;
        if (c.n_heads % c.n_kv_heads != 0)
            return refuse(fmt::format("head_count {} is not a multiple of head_count_kv {}", c.n_heads, c.n_kv_heads));
        const bool by_key = file_.has("llama.attention.key_length");
        if (!by_key && c.n_embd % c.n_heads != 0)
            return refuse(fmt::format("embedding_length {} is not a multiple of head_count {}", c.n_embd, c.n_heads));
        c.head_dim = integer("llama.attention.key_length", 1, kMaxStatedDim, c.n_embd / c.n_heads);
        if (!error_ && (c.head_dim < kernels::kSmallestHeadDim || c.head_dim > kernels::kLargestHeadDim))
            return refuse(fmt::format("heads of {} channels are not supported ({} to {} are)", c.head_dim,
                                      kernels::kSmallestHeadDim, kernels::kLargestHeadDim));
        const int value_dim = integer("llama.attention.value_length", 1, kMaxStatedDim, c.n_embd / c.n_heads);
        if (!error_ && value_dim != c.head_dim)
            return refuse(
                fmt::format("key_length {} and value_length {} differ, which is not supported", c.head_dim, value_dim));
        const double eps = number("llama.attention.layer_norm_rms_epsilon", 0);
        if (!(eps > 0 && eps < 1)) return refuse("layer_norm_rms_epsilon is missing or not in (0,1)");
        c.rms_eps = float(eps);
        const uint64_t n_vocab = file_.string_count("tokenizer.ggml.tokens");
        if (n_vocab == 0 || n_vocab > uint64_t(1) << 30)
            return refuse("tokenizer.ggml.tokens is missing or not a list of strings");
        c.n_vocab = int(n_vocab);
        const int told = integer("llama.vocab_size", 0, int64_t(1) << 30, c.n_vocab);
        if (told != c.n_vocab) warn(fmt::format("llama.vocab_size is {}, but there are {} tokens", told, c.n_vocab));
    }

    void rope() {
        ModelConfig& c = config_;
        const int n_rot = integer("llama.rope.dimension_count", 1, kMaxStatedDim, c.head_dim);
        if (!error_ && (n_rot % 2 != 0 || n_rot != c.head_dim))
            return refuse(fmt::format("rope.dimension_count {} does not fit head size {}", n_rot, c.head_dim));
        c.rope_base = number("llama.rope.freq_base", 10000);
        if (!(c.rope_base > 0) || !std::isfinite(c.rope_base))
            return refuse(fmt::format("llama.rope.freq_base = {} is not a positive number", c.rope_base));
        std::string_view type = "linear";
        if (const auto given = file_.string("llama.rope.scaling.type")) type = *given;
        if (type != "none" && type != "linear")
            return refuse(fmt::format("rope scaling \"{}\" is not supported (none and linear are)", printable(type)));
        const double old_name = number("llama.rope.scale_linear", 0);
        const double factor = number("llama.rope.scaling.factor", old_name);
        if (!(factor >= 0) || !std::isfinite(factor))
            return refuse(fmt::format("llama.rope.scaling.factor = {} is not a positive number", factor));
        if (type == "linear" && factor > 0) c.rope_scale = 1 / factor;  // 0 means: no scaling
        // Angles are fp32: that of the fastest pair at the last position must be a number.
        const double fastest = std::max(1.0, std::pow(c.rope_base, 2.0 / c.head_dim - 1)) * c.rope_scale;
        if (!(fastest * c.context_length < double(std::numeric_limits<float>::max())))
            return refuse(
                fmt::format("llama.rope.freq_base {} with rope scaling {} turns positions by angles that are "
                            "no numbers",
                            c.rope_base, factor));
    }

    // Features of the format that change the numbers and that the forward pass does not have.
    void unsupported_features() {
        const int experts = integer("llama.expert_count", 0, 1 << 20, 0);
        if (experts > 0) return refuse(fmt::format("mixture of {} experts is not supported", experts));
        for (const char* key : {"llama.attn_logit_softcapping", "llama.final_logit_softcapping"})
            if (number(key, 0) != 0) return refuse(fmt::format("{} is not supported", key));
        const double usual = 1 / std::sqrt(double(config_.head_dim)), scale = number("llama.attention.scale", 0);
        if (scale != 0 && std::abs(scale - usual) > 1e-6 * usual)
            return refuse(
                fmt::format("llama.attention.scale = {} is not supported (1/sqrt(head_dim) = {} is)", scale, usual));
        if (file_.tensor("blk.0.attn_qkv.weight"))
            return refuse("the fused tensor blk.0.attn_qkv.weight is not supported");
        for (const char* name : {"rope_factors_long.weight", "rope_factors_short.weight"})
            if (file_.tensor(name)) return refuse(fmt::format("rope scaling by {} is not supported", name));
        const int window = integer("llama.attention.sliding_window", 0, int64_t(1) << 30, 0);
        if (window > 0 && window < config_.context_length)
            warn(fmt::format("the sliding window of {} tokens is not applied: all tokens are attended to", window));
    }

    const GgufTensor* want(const std::string& name, const std::vector<uint64_t>& dims, bool required = true) {
        if (error_) return nullptr;
        const GgufTensor* tensor = file_.tensor(name);
        if (!tensor) {
            if (required) refuse(fmt::format("tensor {} is missing", name));
            return nullptr;
        }
        if (tensor->dims != dims)
            refuse(fmt::format("tensor {} has shape [{}], expected [{}]", name, fmt::join(tensor->dims, ", "),
                               fmt::join(dims, ", ")));
        else if (!is_readable_type(tensor->type))
            refuse(fmt::format("tensor {} uses type {} ({}), which this version cannot read", name, tensor->type,
                               ggml_type_name(tensor->type)),
                   "Open a file whose tensors are F32, F16, BF16, Q8_0, Q4_0 or Q4_1.");
        else
            wanted_.push_back(tensor);
        return tensor;
    }

    void tensors() {
        ModelConfig& c = config_;
        const uint64_t embd = uint64_t(c.n_embd), ff = uint64_t(c.n_ff), vocab = uint64_t(c.n_vocab);
        const uint64_t q_rows = uint64_t(c.n_heads) * uint64_t(c.head_dim);
        const uint64_t kv_rows = uint64_t(c.n_kv_heads) * uint64_t(c.head_dim);
        want("token_embd.weight", {embd, vocab});
        want("output_norm.weight", {embd});
        c.tied = !want("output.weight", {embd, vocab}, false);
        c.has_rope_freqs = want("rope_freqs.weight", {uint64_t(c.head_dim) / 2}, false) != nullptr;
        std::map<uint32_t, int> types;
        for (int layer = 0; layer < c.n_layers && !error_; ++layer) {
            const std::string blk = fmt::format("blk.{}.", layer);
            want(blk + "attn_norm.weight", {embd});
            want(blk + "ffn_norm.weight", {embd});
            const struct {
                const char* name;
                uint64_t columns, rows;
            } projections[] = {{"attn_q", embd, q_rows},      {"attn_k", embd, kv_rows}, {"attn_v", embd, kv_rows},
                               {"attn_output", q_rows, embd}, {"ffn_gate", embd, ff},    {"ffn_up", embd, ff},
                               {"ffn_down", ff, embd}};
            for (const auto& p : projections) {
                if (const GgufTensor* t = want(blk + p.name + ".weight", {p.columns, p.rows})) ++types[t->type];
                want(blk + p.name + ".bias", {p.rows}, false);
            }
        }
        if (error_) return;
        int most = 0;
        for (const auto& [type, n] : types)
            if (n > most) most = n, c.weights = ggml_type_name(type);
        for (const GgufTensor* tensor : wanted_) {
            const Result<bool> finite = all_finite(file_, *tensor);
            if (!finite) return void(error_ = finite.error());
            if (!*finite)
                return refuse(fmt::format("tensor {} contains NaN or infinity", tensor->name),
                              "Download the file again.");
        }
        if (c.has_rope_freqs) rope_freqs(*file_.tensor("rope_freqs.weight"));
        unused_tensors();
    }

    /// Whatever the file holds beside what the forward pass reads may have been meant to change its numbers.
    void unused_tensors() {
        constexpr size_t kNamed = 3;
        std::vector<std::string> names;
        for (const GgufTensor& tensor : file_.tensors())
            if (std::find(wanted_.begin(), wanted_.end(), &tensor) == wanted_.end())
                names.push_back(printable(tensor.name));
        if (names.empty()) return;
        const size_t n = names.size();
        names.resize(std::min(n, kNamed));
        warn(fmt::format("{} {} not used, so that the numbers may not be those the model was made for: {}{}", n,
                         n == 1 ? "tensor of the file is" : "tensors of the file are", fmt::join(names, ", "),
                         n > kNamed ? " and others" : ""));
    }

    void rope_freqs(const GgufTensor& tensor) {
        if (tensor.type != ggml_type::f32) return refuse("tensor rope_freqs.weight is not F32");
        std::vector<float> factors(tensor.dims[0]);
        const Status read = file_.read(tensor, 0, tensor.n_bytes, reinterpret_cast<uint8_t*>(factors.data()));
        if (!read) return void(error_ = read.error());
        for (size_t i = 0; i < factors.size(); ++i) {
            const float factor = factors[i];
            if (!(factor > 0) || !std::isfinite(1 / factor))
                return refuse(fmt::format("rope_freqs.weight[{}] = {} is not positive or too small", i, factor));
        }
    }

    const GgufFile& file_;
    ModelConfig config_;
    std::optional<Error> error_;
    std::vector<const GgufTensor*> wanted_;
};

}  // namespace

Result<ModelConfig> read_model_config(const GgufFile& file) {
    return ConfigReader(file).read();
}

}  // namespace kvasir
