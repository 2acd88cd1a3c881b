// SPDX-License-Identifier: GPL-3.0-or-later
// One recorded K or V tensor through a codec, with the bytes as the original library packs them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/cache/store.h"

namespace kvasir {

struct QuantizedTensor {
    StoredTensor stored;                ///< codes in the order of the input, constants in the original's order
    std::vector<uint8_t> packed;        ///< the original's packed bytes
    std::vector<uint16_t> dequantized;  ///< fp16 [n_kv_heads, tokens, head_dim]; rotated sides stay rotated
};

/// x: fp16 [n_kv_heads, n_tokens, head_dim]. All tokens are quantized as one tensor, whatever the residual length.
Result<QuantizedTensor> quantize_tensor(const CacheSpec& spec, Side side, const uint16_t* x, int n_kv_heads,
                                        int n_tokens, int head_dim);

/// Codes [n_kv_heads, n_tokens, head_dim] in the byte order of the library that the scheme comes from: Quanto joins
/// distant rows of the grouped array, low bits first; hqq as well, high bits first; KIVI and kv-hadamard join
/// neighbours. Refuses shapes that the library cannot pack.
Result<std::vector<uint8_t>> pack_as_original(const SideSpec& side, const std::vector<uint8_t>& codes, int n_kv_heads,
                                              int n_tokens, int head_dim);

}  // namespace kvasir
