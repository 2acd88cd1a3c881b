// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "core/cache/kv_cache.h"
#include "core/model/model.h"

namespace kvasir {

/// `"kvasir"` {version, build, kernels} and, with a model, `"model"` {file, sha256, arch, weights, weights_as_run,
/// n_layers, n_heads, n_kv_heads, head_dim, warnings}: the head of every document that carries numbers.
nlohmann::json provenance(const Model* model, KernelPath path);

/// `"model"` of a file that is not loaded: what its metadata says; figures of its shape are null where it cannot be
/// read as a model.
nlohmann::json model_head(const GgufFile& file);

/// `"protocol"` of a document: what was scored. The first `prefill` tokens are the prompt.
nlohmann::json protocol_json(const Model& model, int prefill, int n_scored);

}  // namespace kvasir
