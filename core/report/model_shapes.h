// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes of well-known models, so that their caches can be computed without their files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cache/kv_cache.h"

namespace kvasir {

struct ModelShape {
    std::string name;  ///< as the command line takes it: "llama-2-7b"
    std::string title;
    int n_layers = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
    int n_embd = 0, n_ff = 0, n_vocab = 0;
    int context_length = 0;  ///< that the model was trained for, tokens
    bool tied = false;       ///< the embedding is also the output matrix
    bool qkv_bias = false;
    int norms_per_layer = 2;
    std::string note;  ///< what the figures leave out for this model; "" mostly

    CacheShape cache() const { return {n_layers, n_kv_heads, head_dim, 0}; }
    /// Embedding, attention, gated MLP, norms; from the shape alone.
    uint64_t n_parameters() const;
};

/// An explicit table, from the models' published configurations.
const std::vector<ModelShape>& model_shapes();

/// Case does not matter. The refusal lists the names and the nearest one.
Result<ModelShape> find_model_shape(std::string_view name);

/// The shape of a GGUF file, and the bytes of its tensors. The name is the file's path.
Result<ModelShape> model_file_shape(const std::string& path, uint64_t* weight_bytes);

}  // namespace kvasir
