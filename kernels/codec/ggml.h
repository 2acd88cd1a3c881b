// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of ggml's blocks of 32 (ggml-quants.c at d99724f), fp32 in and out. d and m are stored as fp16, but codes
// are computed with the unrounded d. Roundings as there: half away from zero (q8_0), truncation of x/d + 1/2 elsewhere.
// Worked example, q4_0, the block [-1.25, -0.5, -0.1, 0, 0.3, 0.75, 1, 2] and 24 zeros: the extreme is 2, d = 2 / -8 =
// -0.25, codes trunc(x / d + 8.5) = 13 10 8 8 7 5 4 0 and 8 for each zero, values (code - 8) d = -1.25 -0.5 0 0 0.25
// 0.75 1 2 and zeros. q4_1 of the same: d 0.2166748046875, m -1.25, codes 0 3 5 6 7 9 10 15 and 6 for each zero. One
// block of every type, x_i = sin(0.7 i)(1 + 0.1 i), is in tests/core/cache/tst_worked_examples.cpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/half.h"

namespace kvasir::kernels {

struct GgmlConstants {
    float d, m;  ///< before they are rounded to fp16; m is 0 for the symmetric types
};

/// The first element with the largest magnitude, with its sign.
KVASIR_HD inline float ggml_extreme(const float* x, int n) {
    float best = fabsf(x[0]), extreme = x[0];
    for (int i = 1; i < n; ++i)
        if (fabsf(x[i]) > best) {
            best = fabsf(x[i]);
            extreme = x[i];
        }
    return extreme;
}

KVASIR_HD inline uint8_t ggml_clamp(float q, int top) {
    return uint8_t(!(q > 0) ? 0 : q > float(top) ? top : int(q));  // NaN gives 0
}

/// q8_0: stored code + 128. d = max|x| / 127.
KVASIR_HD inline GgmlConstants ggml_encode_q8(const float* x, int n, float extreme, uint8_t* codes) {
    const float d = fabsf(extreme) / 127.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
    for (int i = 0; i < n; ++i)
        codes[i] = ggml_clamp(roundf(x[i] * inverse) + 128.0f, 255);
    return {d, 0};
}

/// q4_0 (bits 4) and q5_0 (bits 5): d = extreme / -2^(bits-1), code = trunc(x/d + 2^(bits-1) + 1/2). The sum is taken
/// as gguf 0.19 takes it: for q4_0 rounded once, which stands for ggml's fused multiply-add, for q5_0 after the
/// product.
KVASIR_HD inline GgmlConstants ggml_encode_symmetric(const float* x, int n, float extreme, int bits, uint8_t* codes) {
    const int half = 1 << (bits - 1);
    const float d = extreme / float(-half), inverse = d != 0 ? 1.0f / d : 0.0f, shift = float(half) + 0.5f;
    for (int i = 0; i < n; ++i) {
        const float sum = bits == 4 ? fmaf(x[i], inverse, shift) : x[i] * inverse + shift;
        codes[i] = ggml_clamp(sum, 2 * half - 1);
    }
    return {d, 0};
}

/// q4_1 and q5_1: d = (max - min) / (2^bits - 1), m = min.
KVASIR_HD inline GgmlConstants ggml_encode_offset(const float* x, int n, int bits, uint8_t* codes) {
    const int top = (1 << bits) - 1;
    float lo = x[0], hi = x[0];
    for (int i = 1; i < n; ++i) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    const float d = (hi - lo) / float(top), inverse = d != 0 ? 1.0f / d : 0.0f;
    for (int i = 0; i < n; ++i)
        codes[i] = ggml_clamp((x[i] - lo) * inverse + 0.5f, top);
    return {d, lo + 0.0f};  // no negative zero
}

}  // namespace kvasir::kernels
