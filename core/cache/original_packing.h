// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/cache/store.h"

namespace kvasir {

/// Codes [n_kv_heads, n_tokens, head_dim] in the byte order of the library that the scheme comes from: Quanto joins
/// distant rows of the grouped array, low bits first; hqq as well, high bits first; KIVI, kv-hadamard, QuaRot and
/// TurboQuant join neighbours; ggml writes blocks with their constants; exllamav3 bit planes. Refuses shapes that the
/// library cannot pack. side.group > 0.
Result<std::vector<uint8_t>> pack_as_original(const SideSpec& side, const StoredTensor& stored, int n_kv_heads,
                                              int n_tokens, int head_dim);

}  // namespace kvasir
