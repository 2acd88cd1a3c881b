// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of one exllamav3 group (turboderp-org/exllamav3 at 4f8ad01, July 2026, cache/q_cache_kernels.cuh): a
// mid-rise grid without a zero level, fp32, on values already rotated by H32 / sqrt(32). The scale is stored as fp16,
// codes come from the fp32 one.
// Worked example, four rotated values whose largest size is 2, at 2 bits (m = 2): 2 -1 0.25 -0.5 give s = 2, codes
// floor(2 x / s + 2) = 3 (4 is one too many) 1 2 1 and, still rotated, the values (code - 1.5) s / 2 = 1.5 -0.5 0.5
// -0.5. A whole group, x_i = sin(0.7 i)(1 + 0.1 i) in fp16, at 4 bits: stored scale 6.32421875, codes 9 7 7 7 3 4 0 9 7
// 8 ..., packed words 90437779 678b8887 588f8987 8a968777.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/half.h"

namespace kvasir::kernels {

/// s = max|x| + 1e-10; code = clamp(floor(fma(x * (1/s), m, m)), 0, 2m - 1) with m = 2^(bits-1). Returns s.
KVASIR_HD inline float exl3_encode(const float* x, int n, int bits, uint8_t* codes) {
    const float m = float(1 << (bits - 1));
    float s = 0;
    bool nan = false;
    for (int i = 0; i < n; ++i) {
        nan |= x[i] != x[i];
        s = fabsf(x[i]) > s ? fabsf(x[i]) : s;
    }
    s = nan ? float_from_bits(0x7fc00000u) : s + 1e-10f;
    const float inverse = 1.0f / s;
    for (int i = 0; i < n; ++i) {
        const float q = floorf(fmaf(x[i] * inverse, m, m));
        codes[i] = uint8_t(q > 0 ? (q < 2 * m - 1 ? q : 2 * m - 1) : 0);  // NaN gives 0
    }
    return s;
}

/// 1 / sqrt(32).
constexpr float kExl3Norm = 0.17677669529663687f;

/// (code - (m - 1/2)) * (s / sqrt(32) / m), s as stored: the norm of the way back is folded in.
KVASIR_HD inline float exl3_value(uint8_t code, float s, int bits) {
    const float m = float(1 << (bits - 1));
    return (float(code) - (m - 0.5f)) * (s * kExl3Norm / m);
}

/// The way back, x (32) in place: butterflies without a norm, then the rounding to fp16.
KVASIR_HD inline void exl3_turn_back(float* x) {
    for (int h = 1; h < 32; h *= 2)
        for (int i = 0; i < 32; ++i)
            if ((i & h) == 0) {
                const float a = x[i], b = x[i + h];
                x[i] = a + b;
                x[i + h] = a - b;
            }
    for (int i = 0; i < 32; ++i)
        x[i] = round_to_half(x[i]);
}

}  // namespace kvasir::kernels
