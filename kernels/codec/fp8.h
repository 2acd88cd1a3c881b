// SPDX-License-Identifier: GPL-3.0-or-later
// e4m3fn: bias 7, largest 448, no infinity, NaN 0x7f; round to nearest even, saturate. vLLM's fp8 cache: stored is
// e4m3(x / scale), one scale a side.
// Worked example: 0.1 -> 0x1d (0.1015625), 17 -> 0x58 (16), 300 -> 0x79 (288), 448 and above -> 0x7e (448). With scale
// 0.0375: 0.1 -0.3 1 3.14159 -7.5 -> 43 d0 5d 6a f4, which are 2.75 -8 26 80 -192 times the scale.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/half.h"

namespace kvasir::kernels {

KVASIR_HD inline uint8_t float_to_e4m3(float x) {
    const uint8_t sign = uint8_t(float_bits(x) >> 24 & 0x80u);
    float a = fabsf(x);
    if (a != a) return uint8_t(sign | 0x7fu);
    if (a >= 448.0f) return uint8_t(sign | 0x7eu);
    if (a < 0x1p-6f) {  // subnormals: multiples of 2^-9; the sum has no room for less
        const float steps = (a * 512.0f + 8388608.0f) - 8388608.0f;
        return uint8_t(sign | uint8_t(steps));
    }
    // Keep 3 bits of the mantissa; a carry goes into the exponent, as it must.
    uint32_t bits = float_bits(a);
    bits += 0x7ffffu + (bits >> 20 & 1u);
    const uint32_t code = (bits >> 20) - ((127u - 7u) << 3);
    return uint8_t(sign | (code > 0x7eu ? 0x7eu : code));
}

KVASIR_HD inline float e4m3_to_float(uint8_t code) {
    const float sign = code & 0x80u ? -1.0f : 1.0f;
    const uint32_t magnitude = code & 0x7fu;
    if (magnitude == 0x7fu) return float_from_bits(0x7fc00000u);
    if (magnitude < 8) return sign * float(magnitude) * 0x1p-9f;
    return sign * float_from_bits((magnitude << 20) + ((127u - 7u) << 23));
}

}  // namespace kvasir::kernels
