// SPDX-License-Identifier: GPL-3.0-or-later
// Small llama models of any shape with random weights, written by the test itself, and their forward pass in double
// precision to compare with.
#pragma once

#include <cmath>
#include <map>
#include <random>

#include "kernels/cpu/quantize_row.h"
#include "support/gguf_writer.h"

namespace kvasir::test {

struct SmallShape {
    int n_layers = 2, n_embd = 64, n_heads = 4, n_kv_heads = 2, head_dim = 16, n_ff = 96, n_vocab = 40;
    bool tied = true, bias = false;
    uint32_t seed = 1;
    /// Of the matrices; those whose rows have no whole blocks are F32.
    kernels::WeightType weights = kernels::WeightType::f32;
};

class SmallModel {
 public:
    using Matrix = std::vector<std::vector<double>>;  ///< rows

    explicit SmallModel(const SmallShape& shape) : shape_(shape), random_(shape.seed) {
        writer_.set("general.architecture", "llama");
        writer_.set("llama.block_count", uint32_t(shape.n_layers));
        writer_.set("llama.context_length", 256u);
        writer_.set("llama.embedding_length", uint32_t(shape.n_embd));
        writer_.set("llama.feed_forward_length", uint32_t(shape.n_ff));
        writer_.set("llama.attention.head_count", uint32_t(shape.n_heads));
        writer_.set("llama.attention.head_count_kv", uint32_t(shape.n_kv_heads));
        writer_.set("llama.attention.key_length", uint32_t(shape.head_dim));
        writer_.set("llama.attention.value_length", uint32_t(shape.head_dim));
        writer_.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        tokenizer();
        const int q = shape.n_heads * shape.head_dim, kv = shape.n_kv_heads * shape.head_dim;
        matrix("token_embd.weight", shape.n_vocab, shape.n_embd, 1);
        if (!shape.tied) matrix("output.weight", shape.n_vocab, shape.n_embd, 1);
        norm("output_norm.weight");
        const double in = 1 / std::sqrt(double(shape.n_embd));
        for (int layer = 0; layer < shape.n_layers; ++layer) {
            const std::string p = "blk." + std::to_string(layer) + ".";
            norm(p + "attn_norm.weight");
            norm(p + "ffn_norm.weight");
            matrix(p + "attn_q.weight", q, shape.n_embd, 2 * in);
            matrix(p + "attn_k.weight", kv, shape.n_embd, 2 * in);
            matrix(p + "attn_v.weight", kv, shape.n_embd, in);
            matrix(p + "attn_output.weight", shape.n_embd, q, 1 / std::sqrt(double(q)));
            matrix(p + "ffn_gate.weight", shape.n_ff, shape.n_embd, in);
            matrix(p + "ffn_up.weight", shape.n_ff, shape.n_embd, in);
            matrix(p + "ffn_down.weight", shape.n_embd, shape.n_ff, 1 / std::sqrt(double(shape.n_ff)));
            if (shape.bias) bias(p + "attn_q.bias", q), bias(p + "attn_v.bias", kv);
        }
    }

    GgufWriter& writer() { return writer_; }
    bool write(const QString& path) const { return writer_.write(path); }

    /// Logits after the last of these tokens.
    std::vector<double> logits(const std::vector<int>& tokens) const {
        const SmallShape& s = shape_;
        const size_t n = tokens.size(), dim = size_t(s.head_dim), queries = size_t(s.n_heads / s.n_kv_heads);
        Matrix x(n);
        for (size_t t = 0; t < n; ++t)
            x[t] = values_.at("token_embd.weight")[size_t(tokens[t])];
        for (int layer = 0; layer < s.n_layers; ++layer) {
            const std::string p = "blk." + std::to_string(layer) + ".";
            Matrix q(n), k(n), v(n);
            for (size_t t = 0; t < n; ++t) {
                const std::vector<double> h = normed(x[t], p + "attn_norm.weight");
                q[t] = rotated(product(p + "attn_q", h), t);
                k[t] = rotated(product(p + "attn_k", h), t);
                v[t] = product(p + "attn_v", h);
            }
            for (size_t t = 0; t < n; ++t) {
                std::vector<double> o(size_t(s.n_heads) * dim);
                for (size_t head = 0; head < size_t(s.n_heads); ++head) {
                    const size_t kv = head / queries * dim;
                    std::vector<double> weight(t + 1);
                    double sum = 0;
                    for (size_t i = 0; i <= t; ++i) {
                        for (size_t d = 0; d < dim; ++d)
                            weight[i] += q[t][head * dim + d] * k[i][kv + d];
                        sum += weight[i] = std::exp(weight[i] / std::sqrt(double(dim)));
                    }
                    for (size_t i = 0; i <= t; ++i)
                        for (size_t d = 0; d < dim; ++d)
                            o[head * dim + d] += weight[i] / sum * v[i][kv + d];
                }
                add(product(p + "attn_output", o), x[t]);
            }
            for (size_t t = 0; t < n; ++t) {
                const std::vector<double> h = normed(x[t], p + "ffn_norm.weight");
                std::vector<double> gate = product(p + "ffn_gate", h);
                const std::vector<double> up = product(p + "ffn_up", h);
                for (size_t i = 0; i < gate.size(); ++i)
                    gate[i] *= up[i] / (1 + std::exp(-gate[i]));
                add(product(p + "ffn_down", gate), x[t]);
            }
        }
        return product(s.tied ? "token_embd" : "output", normed(x.back(), "output_norm.weight"));
    }

 private:
    void tokenizer() {
        std::vector<std::string> tokens;
        for (int i = 0; i < shape_.n_vocab; ++i)
            tokens.push_back(i < 26 ? std::string(1, char('a' + i)) : "<t" + std::to_string(i) + ">");
        writer_.set("tokenizer.ggml.model", "gpt2");
        writer_.set("tokenizer.ggml.pre", "gpt-2");
        writer_.set("tokenizer.ggml.tokens", tokens);
        writer_.set("tokenizer.ggml.token_type", std::vector<int32_t>(tokens.size(), 1));
        writer_.set("tokenizer.ggml.merges", std::vector<std::string>{});
    }

    std::vector<float> normal(int n, double scale, double mean = 0) {
        std::normal_distribution<double> next(mean, scale);
        std::vector<float> x(static_cast<size_t>(n));
        for (float& value : x)
            value = float(next(random_));
        return x;
    }

    /// Writes one tensor and keeps what a reader gets from it.
    void rows(const std::string& name, std::vector<uint64_t> dims, kernels::WeightType type, uint32_t file_type,
              double scale, double mean) {
        const int cols = int(dims[0]), n = dims.size() > 1 ? int(dims[1]) : 1;
        std::string data;
        for (int r = 0; r < n; ++r) {
            std::vector<float> x = normal(cols, scale, mean);
            std::string row(kernels::row_bytes(type, cols), '\0');
            kernels::quantize_row(type, x.data(), cols, row.data());
            kernels::dequantize_row(type, row.data(), cols, x.data());
            values_[name].emplace_back(x.begin(), x.end());
            data += row;
        }
        writer_.tensor(name, dims, file_type, std::move(data));
    }

    void matrix(const std::string& name, int n_rows, int cols, double scale) {
        using kernels::WeightType;
        WeightType type = shape_.weights;
        if (cols % 32 != 0 && type != WeightType::f16) type = WeightType::f32;
        const uint32_t file_type = type == WeightType::f32    ? ggml_type::f32
                                   : type == WeightType::f16  ? ggml_type::f16
                                   : type == WeightType::q8_0 ? ggml_type::q8_0
                                                              : ggml_type::q4_0;
        rows(name, {uint64_t(cols), uint64_t(n_rows)}, type, file_type, scale, 0);
    }
    void norm(const std::string& name) {
        rows(name, {uint64_t(shape_.n_embd)}, kernels::WeightType::f32, ggml_type::f32, 0.1, 1);
    }
    void bias(const std::string& name, int n) {
        rows(name, {uint64_t(n)}, kernels::WeightType::f32, ggml_type::f32, 0.2, 0);
    }

    std::vector<double> product(const std::string& name, const std::vector<double>& x) const {
        const Matrix& w = values_.at(name + ".weight");
        std::vector<double> y(w.size());
        for (size_t r = 0; r < w.size(); ++r)
            for (size_t c = 0; c < x.size(); ++c)
                y[r] += w[r][c] * x[c];
        if (const auto found = values_.find(name + ".bias"); found != values_.end()) add(found->second.front(), y);
        return y;
    }
    static void add(const std::vector<double>& x, std::vector<double>& y) {
        for (size_t i = 0; i < y.size(); ++i)
            y[i] += x[i];
    }
    std::vector<double> normed(std::vector<double> x, const std::string& name) const {
        double sum = 0;
        for (const double value : x)
            sum += value * value;
        const std::vector<double>& w = values_.at(name).front();
        for (size_t i = 0; i < x.size(); ++i)
            x[i] *= w[i] / std::sqrt(sum / double(x.size()) + 1e-5);
        return x;
    }
    /// RoPE on adjacent pairs, as the rows of a file have them.
    std::vector<double> rotated(std::vector<double> x, size_t position) const {
        const size_t half = size_t(shape_.head_dim) / 2;
        for (size_t i = 0; i < x.size() / 2; ++i) {
            const double angle = double(position) * std::pow(10000.0, -double(i % half) / double(half));
            const double a = x[2 * i], b = x[2 * i + 1];
            x[2 * i] = a * std::cos(angle) - b * std::sin(angle);
            x[2 * i + 1] = a * std::sin(angle) + b * std::cos(angle);
        }
        return x;
    }

    SmallShape shape_;
    std::mt19937 random_;
    GgufWriter writer_;
    std::map<std::string, Matrix> values_;
};

}  // namespace kvasir::test
