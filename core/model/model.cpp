// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/model.h"
#include "core/base/guard_memory.h"

#include <fmt/format.h>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>

#include "core/model/readable_model.h"
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

/// Copies tensors out of the file; several threads may use one. The first failure is kept, and zeros stand in its
/// place.
class TensorReader {
 public:
    explicit TensorReader(const GgufFile& file) : file_(file) {}

    std::vector<uint8_t> operator()(const GgufTensor& t) {
        std::vector<uint8_t> bytes(t.n_bytes);
        if (Status done = file_.read(t, 0, bytes.size(), bytes.data()); !done) {
            const std::lock_guard lock(mutex_);
            if (status_) status_ = std::move(done);
        }
        return bytes;
    }
    std::vector<float> vector(const GgufTensor& t) {
        std::vector<float> out(t.dims[0]);
        kernels::dequantize_row(weight_type(t.type), (*this)(t).data(), int(out.size()), out.data());
        return out;
    }
    const GgufFile& file() const { return file_; }
    /// To be asked when no other thread reads.
    const Status& status() const { return status_; }

 private:
    const GgufFile& file_;
    std::mutex mutex_;
    Status status_;
};

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
    Packer(TensorReader& read, WeightsAs weights) : read_(read), weights_(weights) {}

    PackedMatrix operator()(const GgufTensor& t, int unpermute_head_dim = 0) {
        const int cols = int(t.dims[0]), rows = int(t.dims[1]);
        const WeightType stored = weight_type(t.type);
        const size_t stride = kernels::row_bytes(stored, cols);
        const std::vector<uint8_t> bytes = read_(t);
        const auto stored_row = [&](int r) {
            return bytes.data() + stride * size_t(unpermute_head_dim ? pairs_row(r, unpermute_head_dim) : r);
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
    TensorReader& read_;
    WeightsAs weights_;
    std::atomic<bool> out_of_range_ = false;
};

std::vector<float> read_bias(TensorReader& read, const std::string& name, int unpermute_head_dim = 0) {
    const GgufTensor* t = read.file().tensor(name);
    if (!t) return {};
    const std::vector<float> stored = read.vector(*t);
    if (!unpermute_head_dim) return stored;
    std::vector<float> out(stored.size());
    for (size_t r = 0; r < out.size(); ++r)
        out[r] = stored[size_t(pairs_row(int(r), unpermute_head_dim))];
    return out;
}

LayerWeights read_layer(TensorReader& read, int index, int head_dim, Packer& pack) {
    const GgufFile& file = read.file();
    const std::string p = fmt::format("blk.{}.", index);
    LayerWeights w;
    w.attn_norm = read.vector(need(file, p + "attn_norm.weight"));
    w.ffn_norm = read.vector(need(file, p + "ffn_norm.weight"));
    w.q = pack(need(file, p + "attn_q.weight"), head_dim);
    w.k = pack(need(file, p + "attn_k.weight"), head_dim);
    w.v = pack(need(file, p + "attn_v.weight"));
    w.o = pack(need(file, p + "attn_output.weight"));
    w.gate = pack(need(file, p + "ffn_gate.weight"));
    w.up = pack(need(file, p + "ffn_up.weight"));
    w.down = pack(need(file, p + "ffn_down.weight"));
    w.q_bias = read_bias(read, p + "attn_q.bias", head_dim);
    w.k_bias = read_bias(read, p + "attn_k.bias", head_dim);
    w.v_bias = read_bias(read, p + "attn_v.bias");
    w.o_bias = read_bias(read, p + "attn_output.bias");
    w.gate_bias = read_bias(read, p + "ffn_gate.bias");
    w.up_bias = read_bias(read, p + "ffn_up.bias");
    w.down_bias = read_bias(read, p + "ffn_down.bias");
    return w;
}

/// Inverse frequency of each pair in fp32, as the usual fp32 code computes it: 1 / base^(2i / head_dim), divided by
/// rope_freqs.weight (Llama 3.1's factors) where the file carries it, times the linear position scale.
std::vector<float> inverse_frequencies(const ModelConfig& c, TensorReader& read) {
    std::vector<float> out(size_t(c.head_dim / 2));
    for (size_t i = 0; i < out.size(); ++i) {
        const float exponent = float(2 * i) / float(c.head_dim);
        out[i] = 1.0f / std::pow(float(c.rope_base), exponent) * float(c.rope_scale);
    }
    if (const GgufTensor* factors = read.file().tensor("rope_freqs.weight")) {
        const std::vector<float> f = read.vector(*factors);
        for (size_t i = 0; i < out.size() && i < f.size(); ++i)
            out[i] /= f[i];
    }
    return out;
}

}  // namespace

namespace {

/// Types written anew have blocks of 32 values, so every row needs whole ones.
Status check_blocks(const ModelConfig& c, WeightsAs weights, const std::string& path) {
    if (weights != WeightsAs::q8_0 && weights != WeightsAs::q4_0) return {};
    for (const int width : {c.n_embd, c.n_ff, c.n_heads * c.head_dim})
        if (width % 32 != 0)
            return Error{
                ErrorCode::input, "cannot write the weights anew", path,
                fmt::format("rows of {} values are not whole blocks of 32, which {} needs", width, name_of(weights)),
                "Use the weights as they are, f16 or f32."};
    return {};
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load_or_throw(const std::string& path, const Progress& progress,
                                                          const CancelCheck& cancelled, WeightsAs weights,
                                                          int n_threads) {
    const auto report = [&](double share, const char* what) {
        if (progress) progress(share, what);
    };
    const auto stopped = [&] { return cancelled && cancelled(); };
    const Error interrupted{ErrorCode::interrupted, "loading stopped", path, "cancelled", ""};
    report(0, "opening the file");
    auto file = GgufFile::open(path);
    if (!file) return file.error();
    auto readable = read_model(**file, progress, cancelled);
    if (!readable) return readable.error();
    if (Status blocks = check_blocks(readable->config, weights, path); !blocks) return blocks.error();
    if (stopped()) return interrupted;

    std::shared_ptr<Model> model(new Model);
    model->file_ = *file;
    model->config_ = std::move(readable->config);
    model->tokenizer_ = std::move(readable->tokenizer);
    model->chat_ = std::move(readable->chat);
    model->warnings_ = std::move(readable->warnings);
    model->weights_ = weights;
    const ModelConfig& c = model->config_;
    model->weights_as_run_ = weights == WeightsAs::as_is ? c.weights : name_of(weights);

    report(0.15, "computing the checksum");
    auto sha256 = (*file)->sha256(cancelled);
    if (!sha256) return sha256.error();
    model->sha256_ = std::move(*sha256);

    TensorReader read(**file);
    Packer pack(read, weights);
    kernels::ThreadPool pool(n_threads > 0 ? n_threads : kernels::physical_cores());
    model->layers_.resize(size_t(c.n_layers));
    const int per_pass = pool.size();
    for (int first = 0; first < c.n_layers; first += per_pass) {
        report(0.2 + 0.6 * first / c.n_layers, "arranging the weights");
        const int n = std::min(per_pass, c.n_layers - first);
        pool.for_each(n, 1, [&](int i, int) {
            model->layers_[size_t(first + i)] = read_layer(read, first + i, c.head_dim, pack);
        });
        if (!read.status()) return read.status().error();
        if (stopped()) return interrupted;
    }
    report(0.8, "arranging the output matrix");
    model->output_norm_ = read.vector(need(**file, "output_norm.weight"));
    const GgufTensor& embedding = need(**file, "token_embd.weight");
    model->embedding_type_ = weight_type(embedding.type);
    model->embedding_ = read(embedding);
    model->output_ = pack(c.tied ? embedding : need(**file, "output.weight"));
    if (pack.out_of_range())
        return Error{ErrorCode::input, "cannot write the weights anew", path,
                     "a value or a scale leaves the range of fp16, which " + model->weights_as_run_ + " needs",
                     "Use the weights as they are, or f32."};
    model->inv_freq_ = inverse_frequencies(c, read);
    if (!read.status()) return read.status().error();
    if (const Status same = (*file)->unchanged(); !same) return same.error();
    report(1, "ready");
    return std::shared_ptr<const Model>(std::move(model));
}

Result<std::shared_ptr<const Model>> Model::load(const std::string& path, const Progress& progress,
                                                 const CancelCheck& cancelled, WeightsAs weights, int n_threads) {
    return guard_memory([&] { return load_or_throw(path, progress, cancelled, weights, n_threads); },
                        [&] {
                            return Error{ErrorCode::memory, "cannot load the model", path,
                                         "not enough memory for its weights",
                                         "Close other programs or open a smaller model."};
                        });
}

void Model::embed(int token, float* out) const {
    const WeightType type = embedding_type_;
    const size_t stride = kernels::row_bytes(type, config_.n_embd);
    kernels::dequantize_row(type, embedding_.data() + stride * size_t(token), config_.n_embd, out);
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
