// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/model.h"

#include <fmt/format.h>
#include <atomic>
#include <cmath>
#include <cstring>
#include <new>

#include "kernels/cpu/machine.h"
#include "kernels/cpu/quantize_row.h"
#include "kernels/cpu/thread_pool.h"

namespace kvasir {
namespace {

using kernels::PackedMatrix;
using kernels::WeightType;

/// The types read_model_config lets through.
WeightType weight_type(uint32_t ggml_type) {
    switch (ggml_type) {
        case 0:
            return WeightType::f32;
        case 1:
            return WeightType::f16;
        case 2:
            return WeightType::q4_0;
        case 3:
            return WeightType::q4_1;
        case 8:
            return WeightType::q8_0;
        case 30:
            return WeightType::bf16;
    }
    std::abort();
}

const GgufTensor& need(const GgufFile& file, const std::string& name) {
    const GgufTensor* t = file.tensor(name);
    if (!t) std::abort();  // read_model_config has checked
    return *t;
}

std::vector<float> read_vector(const GgufTensor& t) {
    std::vector<float> out(t.dims[0]);
    kernels::dequantize_row(weight_type(t.type), t.data, int(out.size()), out.data());
    return out;
}

/// Rotate-half row of a q or k projection -> its row in the file, where GGUF keeps the members of a RoPE pair side by
/// side.
int pairs_row(int row, int head_dim) {
    const int head = row / head_dim, inside = row % head_dim, half = head_dim / 2;
    return head * head_dim + 2 * (inside % half) + inside / half;
}

WeightType type_of(WeightsAs weights) {
    switch (weights) {
        case WeightsAs::as_is:
            break;
        case WeightsAs::f32:
            return WeightType::f32;
        case WeightsAs::f16:
            return WeightType::f16;
        case WeightsAs::q8_0:
            return WeightType::q8_0;
        case WeightsAs::q4_0:
            return WeightType::q4_0;
    }
    std::abort();
}

std::string name_of(WeightsAs weights) {
    switch (type_of(weights)) {
        case WeightType::f32:
            return "F32";
        case WeightType::f16:
            return "F16";
        case WeightType::q8_0:
            return "Q8_0";
        default:
            return "Q4_0";
    }
}

/// Arranges the matrices of a file; several threads may use one.
class Packer {
 public:
    explicit Packer(WeightsAs weights) : weights_(weights) {}

    PackedMatrix operator()(const GgufTensor& t, int unpermute_head_dim = 0) {
        const int cols = int(t.dims[0]), rows = int(t.dims[1]);
        const WeightType stored = weight_type(t.type);
        const size_t stride = kernels::row_bytes(stored, cols);
        const auto stored_row = [&](int r) {
            return t.data + stride * size_t(unpermute_head_dim ? pairs_row(r, unpermute_head_dim) : r);
        };
        if (weights_ == WeightsAs::as_is) return PackedMatrix::pack(stored, rows, cols, stored_row);
        const WeightType type = type_of(weights_);
        std::vector<float> values(static_cast<size_t>(cols));
        std::vector<uint8_t> row(kernels::row_bytes(type, cols));
        return PackedMatrix::pack(type, rows, cols, [&](int r) {
            kernels::dequantize_row(stored, stored_row(r), cols, values.data());
            if (!kernels::quantize_row(type, values.data(), cols, row.data())) out_of_range_ = true;
            return row.data();
        });
    }
    /// Some value cannot be written in the wanted type.
    bool out_of_range() const { return out_of_range_; }

 private:
    WeightsAs weights_;
    std::atomic<bool> out_of_range_ = false;
};

std::vector<float> read_bias(const GgufFile& file, const std::string& name, int unpermute_head_dim = 0) {
    const GgufTensor* t = file.tensor(name);
    if (!t) return {};
    const std::vector<float> stored = read_vector(*t);
    if (!unpermute_head_dim) return stored;
    std::vector<float> out(stored.size());
    for (size_t r = 0; r < out.size(); ++r)
        out[r] = stored[size_t(pairs_row(int(r), unpermute_head_dim))];
    return out;
}

LayerWeights read_layer(const GgufFile& file, int index, int head_dim, Packer& pack) {
    const std::string p = fmt::format("blk.{}.", index);
    LayerWeights w;
    w.attn_norm = read_vector(need(file, p + "attn_norm.weight"));
    w.ffn_norm = read_vector(need(file, p + "ffn_norm.weight"));
    w.q = pack(need(file, p + "attn_q.weight"), head_dim);
    w.k = pack(need(file, p + "attn_k.weight"), head_dim);
    w.v = pack(need(file, p + "attn_v.weight"));
    w.o = pack(need(file, p + "attn_output.weight"));
    w.gate = pack(need(file, p + "ffn_gate.weight"));
    w.up = pack(need(file, p + "ffn_up.weight"));
    w.down = pack(need(file, p + "ffn_down.weight"));
    w.q_bias = read_bias(file, p + "attn_q.bias", head_dim);
    w.k_bias = read_bias(file, p + "attn_k.bias", head_dim);
    w.v_bias = read_bias(file, p + "attn_v.bias");
    w.o_bias = read_bias(file, p + "attn_output.bias");
    w.gate_bias = read_bias(file, p + "ffn_gate.bias");
    w.up_bias = read_bias(file, p + "ffn_up.bias");
    w.down_bias = read_bias(file, p + "ffn_down.bias");
    return w;
}

/// Inverse frequency of each pair in fp32, as the usual fp32 code computes it: 1 / base^(2i / head_dim), divided by
/// rope_freqs.weight (Llama 3.1's factors) where the file carries it, times the linear position scale.
std::vector<float> inverse_frequencies(const ModelConfig& c, const GgufFile& file) {
    std::vector<float> out(size_t(c.head_dim / 2));
    for (size_t i = 0; i < out.size(); ++i) {
        const float exponent = float(2 * i) / float(c.head_dim);
        out[i] = 1.0f / std::pow(float(c.rope_base), exponent) * float(c.rope_scale);
    }
    if (const GgufTensor* factors = file.tensor("rope_freqs.weight")) {
        const std::vector<float> f = read_vector(*factors);
        for (size_t i = 0; i < out.size() && i < f.size(); ++i)
            out[i] /= f[i];
    }
    return out;
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::string& path, const Progress& progress,
                                                 const CancelCheck& cancelled, WeightsAs weights) {
    const auto report = [&](double share, const char* what) {
        if (progress) progress(share, what);
    };
    const auto stopped = [&] { return cancelled && cancelled(); };
    const Error interrupted{ErrorCode::interrupted, "loading stopped", path, "cancelled", ""};
    try {
        report(0, "opening the file");
        auto file = GgufFile::open(path);
        if (!file) return file.error();
        auto config = read_model_config(**file);
        if (!config) return config.error();
        if (stopped()) return interrupted;

        std::shared_ptr<Model> model(new Model);
        model->file_ = *file;
        model->config_ = *config;
        const ModelConfig& c = model->config_;

        report(0.1, "reading the tokenizer");
        auto tokenizer = Tokenizer::from_gguf(**file);
        if (!tokenizer) return tokenizer.error();
        model->tokenizer_ = *tokenizer;
        model->weights_ = weights;
        model->weights_as_run_ = weights == WeightsAs::as_is ? c.weights : name_of(weights);
        if (auto text = (*file)->string("tokenizer.chat_template")) model->chat_ = ChatTemplate::recognise(*text);
        if (stopped()) return interrupted;

        Packer pack(weights);
        kernels::ThreadPool pool(kernels::physical_cores());
        model->layers_.resize(size_t(c.n_layers));
        const int per_pass = pool.size();
        for (int first = 0; first < c.n_layers; first += per_pass) {
            report(0.2 + 0.6 * first / c.n_layers, "arranging the weights");
            const int n = std::min(per_pass, c.n_layers - first);
            pool.for_each(n, 1, [&](int i, int) {
                model->layers_[size_t(first + i)] = read_layer(**file, first + i, c.head_dim, pack);
            });
            if (stopped()) return interrupted;
        }
        report(0.8, "arranging the output matrix");
        model->output_norm_ = read_vector(need(**file, "output_norm.weight"));
        model->embedding_ = &need(**file, "token_embd.weight");
        model->output_ = pack(c.tied ? *model->embedding_ : need(**file, "output.weight"));
        if (pack.out_of_range())
            return Error{ErrorCode::input, "cannot write the weights anew", path,
                         "a value or a scale leaves the range of fp16, which " + model->weights_as_run_ + " needs",
                         "Use the weights as they are, or f32."};
        model->inv_freq_ = inverse_frequencies(c, **file);
        if (const Status same = (*file)->unchanged(); !same) return same.error();
        report(1, "ready");
        return std::shared_ptr<const Model>(std::move(model));
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::memory, "cannot load the model", path, "not enough memory for its weights",
                     "Close other programs or open a smaller model."};
    }
}

void Model::embed(int token, float* out) const {
    const WeightType type = weight_type(embedding_->type);
    const size_t stride = kernels::row_bytes(type, config_.n_embd);
    kernels::dequantize_row(type, embedding_->data + stride * size_t(token), config_.n_embd, out);
    if (weights_ == WeightsAs::as_is) return;
    // The embedding is a weight matrix too (and the output matrix of a tied model): it runs in the same type.
    const WeightType as_run = type_of(weights_);
    std::vector<uint8_t> row(kernels::row_bytes(as_run, config_.n_embd));
    kernels::quantize_row(as_run, out, config_.n_embd, row.data());
    kernels::dequantize_row(as_run, row.data(), config_.n_embd, out);
}

CacheShape Model::cache_shape(int max_tokens) const {
    const auto rope = [this](int position, float* cos, float* sin) { rope_at(position, cos, sin); };
    return {config_.n_layers, config_.n_kv_heads, config_.head_dim, max_tokens, rope};
}

void Model::rope_at(int position, float* cos, float* sin) const {
    for (size_t i = 0; i < inv_freq_.size(); ++i) {
        const float angle = float(position) * inv_freq_[i];
        cos[i] = std::cos(angle);
        sin[i] = std::sin(angle);
    }
}

uint64_t Model::weight_bytes_per_step() const {
    uint64_t n = output_.bytes() + output_norm_.size() * sizeof(float);
    for (const LayerWeights& w : layers_) {
        for (const PackedMatrix* m : {&w.q, &w.k, &w.v, &w.o, &w.gate, &w.up, &w.down})
            n += m->bytes();
        n += (w.attn_norm.size() + w.ffn_norm.size()) * sizeof(float);
    }
    return n;
}

std::vector<int> Model::encode_prompt(const std::string& text, bool chat) const {
    std::vector<int> ids = chat && chat_.kind() != ChatTemplate::Kind::none
                               ? chat_.encode_turn(*tokenizer_, text)
                               : tokenizer_->encode(text, SpecialTokens::as_text);
    if (tokenizer_->add_bos() && tokenizer_->bos() >= 0 && (ids.empty() || ids.front() != tokenizer_->bos()))
        ids.insert(ids.begin(), tokenizer_->bos());
    return ids;
}

}  // namespace kvasir
