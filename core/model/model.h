// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/cache/kv_cache.h"
#include "core/model/chat_template.h"
#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/tokenizer.h"
#include "kernels/cpu/matmul.h"

namespace kvasir {

/// One decoder layer's weights. q and k rows are in rotate-half order (GGUF keeps adjacent pairs).
struct LayerWeights {
    std::vector<float> attn_norm, ffn_norm;  // (n_embd)
    kernels::PackedMatrix q, k, v, o;        // (heads*head_dim, n_embd) ...; o (n_embd, n_heads*head_dim)
    kernels::PackedMatrix gate, up, down;    // (n_ff, n_embd), (n_ff, n_embd), (n_embd, n_ff)
    std::vector<float> q_bias, k_bias, v_bias, o_bias, gate_bias, up_bias, down_bias;  // empty when absent
};

/// How the weight matrices (projections, output, embedding) are held: as the file stores them, or written anew from the
/// file's dequantized values, so that the error of the weights and that of the cache can be told apart. Norms and
/// biases stay as they are.
enum class WeightsAs { as_is, f32, f16, q8_0, q4_0 };

/// Weights, tokenizer and configuration: const after loading, shared by all lanes.
class Model {
 public:
    /// n_threads: 0 is one per physical core. The weights are copied into memory of their own, so nothing that happens
    /// to the file afterwards reaches a run; what happens to it meanwhile is refused.
    static Result<std::shared_ptr<const Model>> load(const std::string& path, const Progress& progress = {},
                                                     const CancelCheck& cancelled = {},
                                                     WeightsAs weights = WeightsAs::as_is, int n_threads = 0);

    const ModelConfig& config() const { return config_; }
    /// Type of the weight matrices as they run, e.g. "Q4_0": config().weights unless they were written anew.
    const std::string& weights_as_run() const { return weights_as_run_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    const ChatTemplate& chat_template() const { return chat_; }
    const GgufFile& file() const { return *file_; }
    /// Of the bytes that were read.
    const std::string& sha256() const { return sha256_; }
    /// What the file asks for and is not done, and other odd things about it.
    const std::vector<std::string>& warnings() const { return warnings_; }
    const LayerWeights& layer(int i) const { return layers_[size_t(i)]; }
    const std::vector<float>& output_norm() const { return output_norm_; }
    const kernels::PackedMatrix& output() const { return output_; }
    /// Embedding row of a token, out (n_embd).
    void embed(int token, float* out) const;
    /// cos and sin of position p for each of the head_dim/2 pairs.
    void rope_at(int position, float* cos, float* sin) const;
    /// Geometry of a cache for this model; the model must be there while the cache is made.
    CacheShape cache_shape(int max_tokens) const;
    /// Bytes a decode step reads from the weights.
    uint64_t weight_bytes_per_step() const;

    /// Prompt text to ids: raw, or one user turn of the model's chat template. BOS is put in front where the model
    /// asks.
    std::vector<int> encode_prompt(const std::string& text, bool chat) const;

 private:
    Model() = default;
    static Result<std::shared_ptr<const Model>> load_or_throw(const std::string& path, const Progress& progress,
                                                              const CancelCheck& cancelled, WeightsAs weights,
                                                              int n_threads);
    ModelConfig config_;
    std::shared_ptr<const GgufFile> file_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    ChatTemplate chat_;
    std::vector<LayerWeights> layers_;
    std::vector<float> output_norm_;
    kernels::PackedMatrix output_;
    std::vector<float> inv_freq_;  // (head_dim/2)
    kernels::WeightType embedding_type_ = kernels::WeightType::f32;
    std::vector<uint8_t> embedding_;  // (n_vocab, n_embd) as the file has it
    std::string sha256_;
    std::vector<std::string> warnings_;
    WeightsAs weights_ = WeightsAs::as_is;
    std::string weights_as_run_;
};

}  // namespace kvasir
