// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/kv_recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/prompt_pass.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

Error refuse(std::string why, std::string hint) {
    return {ErrorCode::input, "cannot record", "", std::move(why), std::move(hint)};
}

Status check(const ModelConfig& c, size_t n_ids, const std::vector<int>& layers) {
    if (n_ids == 0) return refuse("the text has no tokens", "Open a text.");
    if (n_ids > size_t(c.context_length))
        return refuse(fmt::format("{} tokens, the model's context is {}", n_ids, c.context_length),
                      "Ask for fewer tokens.");
    for (size_t i = 0; i < layers.size(); ++i) {
        if (layers[i] < 0 || layers[i] >= c.n_layers)
            return refuse(fmt::format("there is no layer {}, only 0 to {}", layers[i], c.n_layers - 1),
                          "Name other layers.");
        if (std::find(layers.begin(), layers.begin() + std::ptrdiff_t(i), layers[i]) !=
            layers.begin() + std::ptrdiff_t(i))
            return refuse(fmt::format("layer {} is named twice", layers[i]), "Name it once.");
    }
    return {};
}

}  // namespace

std::vector<TensorOut> KvRecording::tensors() const {
    std::vector<TensorOut> out;
    const std::vector<int64_t> kv{n_kv_heads, n_tokens, head_dim}, queries{n_heads, n_tokens, head_dim};
    for (const LayerRecording& l : layers) {
        const std::string name = fmt::format("layer{}.", l.layer);
        out.push_back({name + "k", TensorType::f16, kv, l.k.data()});
        out.push_back({name + "v", TensorType::f16, kv, l.v.data()});
        out.push_back({name + "k_before_rope", TensorType::f16, kv, l.k_before_rope.data()});
        out.push_back({name + "q", TensorType::f32, queries, l.q.data()});
    }
    return out;
}

Result<KvRecording> record_kv(const std::shared_ptr<const Model>& model, const std::vector<int>& ids,
                              const std::vector<int>& layers, int n_threads, const Progress& progress,
                              const CancelCheck& cancelled) {
    const ModelConfig& c = model->config();
    if (Status ok = check(c, ids.size(), layers); !ok) return ok.error();
    KvRecording recording{int(ids.size()), c.n_heads, c.n_kv_heads, c.head_dim, {}};
    const size_t per_head = ids.size() * size_t(c.head_dim);
    std::vector<int> slot(size_t(c.n_layers), -1);
    for (const int layer : layers) {
        slot[size_t(layer)] = int(recording.layers.size());
        LayerRecording l;
        l.layer = layer;
        for (auto* tensor : {&l.k, &l.k_before_rope, &l.v})
            tensor->resize(size_t(c.n_kv_heads) * per_head);
        l.q.resize(size_t(c.n_heads) * per_head);
        recording.layers.push_back(std::move(l));
    }

    const CacheSpec spec = parse_cache_spec("fp32").value();
    auto cache = KvCache::create(spec, model->cache_shape(int(ids.size())));
    if (!cache) return cache.error();
    Forward forward(model, n_threads > 0 ? n_threads : kernels::physical_cores());
    ForwardOptions options;
    options.no_logits = true;
    options.tap = [&](VectorKind kind, int layer, int head, int position, const float* x) {
        const int at = slot[size_t(layer)];
        if (at < 0) return;
        LayerRecording& l = recording.layers[size_t(at)];
        const size_t first = size_t(head) * per_head + size_t(position) * size_t(c.head_dim);
        if (kind == VectorKind::q) {
            std::copy_n(x, c.head_dim, l.q.data() + first);
            return;
        }
        auto& to = kind == VectorKind::k ? l.k : kind == VectorKind::v ? l.v : l.k_before_rope;
        kernels::float_to_half(x, c.head_dim, to.data() + first);
    };
    const auto after = [&](size_t begin, size_t n, const std::vector<float>&) {
        if (progress) progress(double(begin + n) / double(ids.size()), "recording");
    };
    if (Status done = each_prompt_chunk(forward, **cache, ids, options, after, cancelled); !done) return done.error();
    return recording;
}

}  // namespace kvasir
