// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace kvasir {

class GgufFile;

/// Shape and constants of a `llama` model, checked against each other and against the tensors' shapes.
struct ModelConfig {
    std::string arch, name;
    int n_layers = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
    int n_embd = 0, n_ff = 0, n_vocab = 0;
    int context_length = 0;
    float rms_eps = 0;
    double rope_base = 10000;
    double rope_scale = 1;        ///< position scale: 1/factor for linear scaling
    std::string weights;          ///< most frequent type of the projection matrices, e.g. "Q4_1"
    bool tied = false;            ///< the embedding is also the output matrix
    bool has_rope_freqs = false;  ///< rope_freqs.weight (head_dim/2, F32): each pair's angle is divided by its factor
    std::vector<std::string> warnings;  ///< odd but legal things, for `inspect`
};

/// Reads and validates; every tensor the forward pass wants is there with the expected shape and a readable type, its
/// scales and plain values finite.
Result<ModelConfig> read_model_config(const GgufFile& file);

}  // namespace kvasir
