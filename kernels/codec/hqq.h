// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of one HQQ group (hqq 0.2.7 and later): inverse scale s and zero z in code units, codes from fp32,
// constants stored as fp16. Host and device compile the same lines.
//
// Source: mobiusml/hqq at e0b1d00 (0.2.8.post1; hqq/core/quantize.py, hqq/core/optimize.py).
// Worked example, [-1.25, -0.5, -0.1, 0, 0.3, 0.75, 1, 2] in fp16, 4 bits, without the optimizer: s = 15 / 3.25 =
// 4.6153846, z = 1.25 s = 5.7692308, codes 0 3 5 6 7 9 10 15; stored scale 1/s 0.2166748046875 and zero 5.76953125;
// values -1.25 -0.60009765625 -0.166748046875 0.0499267578125 0.2666015625 0.7001953125 0.91650390625 2.
// One step of the optimizer replaces z by the mean of code - x s over the group, after taking out of x what is left of
// its error when it is shrunk: here all errors are below 0.17 and shrink to nothing, z becomes 5.605727 (stored
// 5.60546875), the codes stay and every value rises by 0.035, from -1.25 to -1.21484375 and from 2 to 2.03515625.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/affine.h"

namespace kvasir::kernels {

/// s of codes = x*s + z. Reciprocal, then product: two fp32 roundings, as torch evaluates number / tensor.
KVASIR_HD inline float hqq_inverse_scale(GroupRange range, int bits) {
    const float width = range.hi - range.lo;
    float s = fabsf(width) <= 1e-4f ? 1.0f : (1.0f / width) * float((1 << bits) - 1);
    if (s > 2e4f) s = 2e4f;
    return s;
}

/// The code of x as a float: clamp(rne(x*s + z), 0, top); 0 where the sum is NaN.
KVASIR_HD inline float hqq_code(float x, float s, float z, float top) {
    return round_code(x * s + z, top);
}

/// Below this size an error shrinks to 0: the root of a = a^-0.3 / 10 is 0.17013.
constexpr float kHqqFirstShrunk = 0.17f;

/// The proximal step of the optimizer on an error e: sign(e) * max(|e| - |e|^-0.3 / 10, 0), for p = 0.7, beta = 10.
KVASIR_HD inline float hqq_shrink(float e) {
    const float a = fabsf(e);
    if (a < kHqqFirstShrunk) return 0.0f;
    const float shrunk = a - 0.1f * powf(a, -0.3f);
    return shrunk > 0 ? copysignf(shrunk, e) : 0.0f;
}

/// What the original dequantizes: r(r(code - zero) * scale) with the fp16 constants.
KVASIR_HD inline float hqq_value(float code, float scale, float zero) {
    return round_to_half(round_to_half(code - zero) * scale);
}

}  // namespace kvasir::kernels
