// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of one ternary group (aryxnsdfs/kv-hadamard at ac5dd9f, ternary_v.py, July 2026), on fp16 values with one
// rounding per operation. Worked example: [-1.25, -0.5, -0.1, 0, 0.3, 0.75, 1, 2] gives scale 2, codes -1 0 0 0 0 0 0 1
// and values -2 0 0 0 0 0 0 2.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/affine.h"

namespace kvasir::kernels {

/// Codes are stored as code + 1. scale = max|x|; code = clamp(rne(r(x / scale)), -1, 1). An all-zero group is 0 / 0 and
/// NaN in the original; here it stays 0. Returns the scale.
KVASIR_HD inline float ternary_encode(const float* x, int n, uint8_t* codes) {
    float scale = 0;
    bool nan = false;
    for (int i = 0; i < n; ++i) {
        nan |= x[i] != x[i];
        scale = fabsf(x[i]) > scale ? fabsf(x[i]) : scale;
    }
    if (nan) scale = float_from_bits(0x7fc00000u);
    for (int i = 0; i < n; ++i) {
        const float ratio = scale > 0 ? round_to_half(x[i] / scale) : 0.0f;  // |ratio| <= 1; 0 in a NaN group
        codes[i] = uint8_t(int(round_even(ratio)) + 1);
    }
    return scale;
}

KVASIR_HD inline float ternary_value(uint8_t code, float scale) {
    return round_to_half((float(code) - 1.0f) * scale);
}

}  // namespace kvasir::kernels
