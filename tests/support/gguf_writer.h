// SPDX-License-Identifier: GPL-3.0-or-later
// Writes small GGUF files for tests: a tiny complete llama model whose keys and tensors a test may change.
#pragma once

#include <QFile>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/model/gguf_types.h"

namespace kvasir::test {

class GgufWriter {
 public:
    using Type = GgufType;

    void set(const std::string& key, uint32_t v) { put(key, Type::u32, number(v)); }
    void set(const std::string& key, float v) { put(key, Type::f32, number(v)); }
    void set(const std::string& key, bool v) { put(key, Type::boolean, std::string(1, char(v))); }
    void set(const std::string& key, const char* v) { put(key, Type::string, text(v)); }
    void set(const std::string& key, const std::vector<std::string>& list) {
        std::string bytes = number(uint32_t(Type::string)) + number(uint64_t(list.size()));
        for (const std::string& item : list)
            bytes += text(item);
        put(key, Type::array, bytes);
    }
    void set(const std::string& key, const std::vector<int32_t>& list) {
        std::string bytes = number(uint32_t(Type::i32)) + number(uint64_t(list.size()));
        for (const int32_t item : list)
            bytes += number(item);
        put(key, Type::array, bytes);
    }
    void remove(const std::string& key) {
        std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; });
    }

    /// An F32 tensor of equal values; replaces one of the same name.
    void tensor(const std::string& name, const std::vector<uint64_t>& dims, float value = 1) {
        uint64_t n = 1;
        for (const uint64_t dim : dims)
            n *= dim;
        std::string data;
        for (uint64_t i = 0; i < n; ++i)
            data += number(value);
        tensor(name, dims, ggml_type::f32, std::move(data));
    }
    /// A tensor of any type, its data as the file has it; replaces one of the same name.
    void tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type, std::string data) {
        std::erase_if(tensors_, [&](const Tensor& t) { return t.name == name; });
        tensors_.push_back({name, dims, type, std::move(data)});
    }

    std::string bytes() const {
        std::string out =
            "GGUF" + number(uint32_t(3)) + number(uint64_t(tensors_.size())) + number(uint64_t(entries_.size()));
        for (const auto& [key, value] : entries_)
            out += text(key) + value;
        std::string data;
        for (const Tensor& t : tensors_) {
            out += text(t.name) + number(uint32_t(t.dims.size()));
            for (const uint64_t dim : t.dims)
                out += number(dim);
            out += number(t.type) + number(uint64_t(data.size()));
            data += t.data;
            data.resize((data.size() + 31) / 32 * 32);
        }
        out.resize((out.size() + 31) / 32 * 32);
        return out + data;
    }

    bool write(const QString& path) const {
        QFile file(path);
        const std::string all = bytes();
        return file.open(QIODevice::WriteOnly) && file.write(all.data(), qint64(all.size())) == qint64(all.size());
    }

    /// One layer, 2 heads of 8, 1 KV head, byte-level tokenizer with a few tokens.
    static GgufWriter tiny_llama() {
        GgufWriter w;
        w.set("general.architecture", "llama");
        w.set("llama.block_count", 1u);
        w.set("llama.context_length", 64u);
        w.set("llama.embedding_length", 16u);
        w.set("llama.feed_forward_length", 24u);
        w.set("llama.attention.head_count", 2u);
        w.set("llama.attention.head_count_kv", 1u);
        w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        w.set("tokenizer.ggml.model", "gpt2");
        w.set("tokenizer.ggml.pre", "gpt-2");
        w.set("tokenizer.ggml.tokens", std::vector<std::string>{"<|end|>", "<user>", "h", "e", "l", "o", "he", "ll",
                                                                "hell", "hello", "\xC4\xA0", "<?>"});
        w.set("tokenizer.ggml.token_type", std::vector<int32_t>{3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2});
        w.set("tokenizer.ggml.merges", std::vector<std::string>{"h e", "l l", "he ll", "hell o"});
        w.set("tokenizer.ggml.eos_token_id", 0u);
        w.tensor("token_embd.weight", {16, 12});
        w.tensor("output_norm.weight", {16});
        for (const char* norm : {"blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"})
            w.tensor(norm, {16});
        w.tensor("blk.0.attn_q.weight", {16, 16});
        w.tensor("blk.0.attn_k.weight", {16, 8});
        w.tensor("blk.0.attn_v.weight", {16, 8});
        w.tensor("blk.0.attn_output.weight", {16, 16});
        w.tensor("blk.0.ffn_gate.weight", {16, 24});
        w.tensor("blk.0.ffn_up.weight", {16, 24});
        w.tensor("blk.0.ffn_down.weight", {24, 16});
        return w;
    }

 private:
    struct Tensor {
        std::string name;
        std::vector<uint64_t> dims;
        uint32_t type;
        std::string data;
    };
    template <class T>
    static std::string number(T v) {
        std::string bytes(sizeof v, '\0');
        std::memcpy(bytes.data(), &v, sizeof v);
        return bytes;
    }
    static std::string text(const std::string& s) { return number(uint64_t(s.size())) + s; }
    void put(const std::string& key, Type type, const std::string& value) {
        remove(key);
        entries_.emplace_back(key, number(uint32_t(type)) + value);
    }

    std::vector<std::pair<std::string, std::string>> entries_;
    std::vector<Tensor> tensors_;
};

}  // namespace kvasir::test
