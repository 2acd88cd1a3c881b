// SPDX-License-Identifier: GPL-3.0-or-later
// The keys, values and queries of a text, as the model makes them: what quantize and replay read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/base/safetensors.h"
#include "core/model/model.h"

namespace kvasir {

struct LayerRecording {
    int layer = 0;
    std::vector<uint16_t> k, k_before_rope, v;  ///< fp16 [n_kv_heads, n_tokens, head_dim]
    std::vector<float> q;                       ///< [n_heads, n_tokens, head_dim], after RoPE, not scaled
};

struct KvRecording {
    int n_tokens = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
    std::vector<LayerRecording> layers;

    /// layerN.k, layerN.v, layerN.k_before_rope (F16), layerN.q (F32); the data stays in this object.
    std::vector<TensorOut> tensors() const;
};

/// One pass over `ids` with exact attention through an fp32 cache: no scheme has a part in the result. Refuses layers
/// the model does not have, no ids, and more ids than its context.
Result<KvRecording> record_kv(const std::shared_ptr<const Model>& model, const std::vector<int>& ids,
                              const std::vector<int>& layers, int n_threads, const Progress& progress = {},
                              const CancelCheck& cancelled = {});

}  // namespace kvasir
