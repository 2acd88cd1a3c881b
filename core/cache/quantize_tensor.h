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
    std::vector<float> values;          ///< the same before the rounding to fp16: ggml and TurboQuant do not round
};

/// True for ggml and TurboQuant, whose originals do not round dequantized values to fp16.
bool dequantizes_to_fp32(const SideSpec& side);

/// x: fp16 [n_kv_heads, n_tokens, head_dim]. All tokens are quantized as one tensor, whatever the residual length.
Result<QuantizedTensor> quantize_tensor(const CacheSpec& spec, Side side, const uint16_t* x, int n_kv_heads,
                                        int n_tokens, int head_dim);

}  // namespace kvasir
