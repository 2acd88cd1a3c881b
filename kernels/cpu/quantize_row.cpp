// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/quantize_row.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/codec/ggml.h"

namespace kvasir::kernels {
namespace {

constexpr int kBlock = 32;

/// False: not a finite fp16 number.
bool put_half(float value, uint8_t* out) {
    const uint16_t h = float_to_half(value);
    std::memcpy(out, &h, sizeof h);
    return (h & 0x7c00u) != 0x7c00u;
}

/// fp16 d, 32 signed bytes.
bool q8_0_block(const float* x, uint8_t* out) {
    uint8_t codes[kBlock];
    const GgmlConstants c = ggml_encode_q8(x, kBlock, ggml_extreme(x, kBlock), codes);
    for (int i = 0; i < kBlock; ++i)
        out[2 + i] = uint8_t(codes[i] - 128);
    return put_half(c.d, out);
}

/// fp16 d, then byte j holds element j in its low and element j + 16 in its high half.
bool q4_0_block(const float* x, uint8_t* out) {
    uint8_t codes[kBlock];
    const GgmlConstants c = ggml_encode_symmetric(x, kBlock, ggml_extreme(x, kBlock), 4, codes);
    for (int j = 0; j < kBlock / 2; ++j)
        out[2 + j] = uint8_t(codes[j] | codes[j + kBlock / 2] << 4);
    return put_half(c.d, out);
}

}  // namespace

bool quantize_row(WeightType type, const float* x, int cols, void* out) {
    auto* bytes = static_cast<uint8_t*>(out);
    if (!std::all_of(x, x + cols, [](float v) { return std::isfinite(v); })) return false;
    if (type == WeightType::f32) {
        std::memcpy(bytes, x, size_t(cols) * sizeof(float));
        return true;
    }
    bool finite = true;
    if (type == WeightType::f16) {
        for (int c = 0; c < cols; ++c)
            finite &= put_half(x[c], bytes + 2 * c);
        return finite;
    }
    if (type != WeightType::q8_0 && type != WeightType::q4_0) std::abort();
    const size_t stride = row_bytes(type, kBlock);
    for (int b = 0; b < cols / kBlock; ++b)
        finite &= (type == WeightType::q8_0 ? q8_0_block : q4_0_block)(x + b * kBlock, bytes + size_t(b) * stride);
    return finite;
}

}  // namespace kvasir::kernels
