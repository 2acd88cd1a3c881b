// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of one affine group, value = scale * code + minimum, as Quanto, KIVI, QuaRot and kv-hadamard do it on fp16
// tensors: every operation rounds once to fp16 where theirs does. Host and device compile the same lines.
//
// Sources: huggingface/optimum-quanto at e33f820 (library/quantize.py, tensor/optimizers), jy-yuan/KIVI at 876b4d2
// (quant/new_pack.py), spcl/QuaRot at 5008669 (its end-to-end cache), aryxnsdfs/kv-hadamard at ac5dd9f
// (b2_packed_int2.py). The worked examples below take the group A = [-1.25, -0.5, -0.1, 0, 0.3, 0.75, 1, 2], rounded to
// fp16; tests/core/cache/tst_worked_examples.cpp holds them to their numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/codec/half.h"

namespace kvasir::kernels {

struct GroupRange {
    float lo, hi;
};

/// Smallest and largest of x (n >= 1); one NaN makes both NaN, as in torch.
KVASIR_HD inline GroupRange group_range(const float* x, int n) {
    GroupRange r{x[0], x[0]};
    bool nan = x[0] != x[0];
    for (int i = 1; i < n; ++i) {
        nan |= x[i] != x[i];
        r.lo = x[i] < r.lo ? x[i] : r.lo;
        r.hi = x[i] > r.hi ? x[i] : r.hi;
    }
    if (nan) r.lo = r.hi = float_from_bits(0x7fc00000u);
    return r;
}

/// round_to_half without branches, for loops that are to become vector code: the same result for every float.
KVASIR_HD inline float round_to_half_select(float f) {
    const uint32_t bits = float_bits(f), magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
    const uint32_t normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u)) & 0xffffe000u;  // 13 bits fewer
    const uint32_t subnormal = float_bits((float_from_bits(magnitude) + 0.5f) - 0.5f);     // multiples of 2^-24
    uint32_t rounded = magnitude < 0x38800000u ? subnormal : normal;
    rounded = rounded >= 0x47800000u ? 0x7f800000u : rounded;                               // 65536 and above: infinity
    rounded = magnitude > 0x7f800000u ? (magnitude & 0xffffe000u) | 0x00400000u : rounded;  // NaN
    return float_from_bits(sign | rounded);
}

/// Half to even, for |q| < 2^22: 1.5 * 2^23 leaves no room for a fraction.
KVASIR_HD inline float round_even(float q) {
    return (q + 12582912.0f) - 12582912.0f;
}

/// clamp(round half to even(q), 0, top) for top <= 255; NaN (a constant group: 0/0) gives 0.
KVASIR_HD inline float round_code(float q, float top) {
    q = q > 0 ? q : 0.0f;
    q = q < top ? q : top;
    return round_even(q);
}

/// Scale and minimum of a group; the codes are written beside it.
struct AffineConstants {
    float scale, minimum;
};

/// The scale of affine_encode.
KVASIR_HD inline float affine_scale(GroupRange range, int bits, float least_range) {
    const float width = round_to_half(range.hi - range.lo);
    return round_to_half((width < least_range ? least_range : width) / float((1 << bits) - 1));
}

/// Quanto (shift = -minimum) and KIVI: x holds fp16 values; codes come from the fp16-rounded scale.
///   scale = r(max(r(hi - lo), least_range) / top), code = clamp(rne(r(r(x - lo) / scale)), 0, top)
/// Example, A: at 4 bits scale 0.2166748046875, codes 0 3 5 6 7 9 10 15, values -1.25 -0.60009765625 -0.1669921875
/// 0.0498046875 0.2666015625 0.7001953125 0.916015625 2; at 2 bits scale 1.0830078125, codes 0 1 1 1 1 2 2 3, values
/// -1.25, four times -0.1669921875, twice 0.916015625, 2. The minimum is -1.25: Quanto stores 1.25, KIVI -1.25.
///
/// QuaRot does the same on a rotated vector, with a least range of fp16(1e-5). Example, A rotated
/// (core/cache/rotation.cpp) and rounded to fp16, 4 bits: scale 0.19091796875, minimum -2.0859375, codes 15 7 4 11 0 12
/// 11 9, values, still rotated, 0.77734375 -0.75 -1.322265625 0.013671875 -2.0859375 0.205078125 0.013671875
/// -0.3671875.
KVASIR_HD inline AffineConstants affine_encode(const float* x, int n, GroupRange range, int bits, float least_range,
                                               uint8_t* codes) {
    const float top = float((1 << bits) - 1), scale = affine_scale(range, bits, least_range);
    for (int i = 0; i < n; ++i)
        codes[i] = uint8_t(int(round_code(round_to_half_select(round_to_half_select(x[i] - range.lo) / scale), top)));
    return {scale, range.lo};
}

/// The scale of affine_encode_f32, not rounded.
KVASIR_HD inline float affine_scale_f32(GroupRange range, int bits) {
    const float scale = (range.hi - range.lo) / float((1 << bits) - 1);
    return scale < 1e-8f ? 1e-8f : scale;
}

/// kv-hadamard: x holds fp32 values; codes come from the unrounded scale, both constants are stored as fp16.
/// Example, the first 4 values of A rotated (core/cache/rotation.cpp), 0.777843 -0.813147 -1.272784 -0.035347, 2 bits:
/// scale 0.68359375, minimum -1.2724609375, codes 3 1 0 2, values 0.7783203125 -0.5888671875 -1.2724609375
/// 0.0947265625.
KVASIR_HD inline AffineConstants affine_encode_f32(const float* x, int n, GroupRange range, int bits, uint8_t* codes) {
    const float top = float((1 << bits) - 1), scale = affine_scale_f32(range, bits);
    for (int i = 0; i < n; ++i)
        codes[i] = uint8_t(int(round_code((x[i] - range.lo) / scale, top)));
    return {round_to_half(scale), round_to_half(range.lo)};
}

/// Quanto 0.2.0 to 0.2.2: an int8 zero point that wraps where |lo| is large against the range.
///   code = clamp(r(rne(r(x / scale)) + zero_point), 0, top), value = r(scale * (code - zero_point))
/// Example, A, 4 bits: scale 0.2166748046875, zero_point 6, codes 0 4 6 6 7 9 11 15, values -1.2998046875
/// -0.433349609375 0 0 0.2166748046875 0.64990234375 1.0830078125 1.9501953125.
struct IntegerConstants {
    float scale, zero_point;
};
KVASIR_HD inline IntegerConstants affine_encode_integer(const float* x, int n, GroupRange range, int bits,
                                                        uint8_t* codes) {
    const float top = float((1 << bits) - 1);
    const float scale = round_to_half(round_to_half(range.hi - range.lo) / top);
    const float ratio = round_to_half(-range.lo / scale);
    const float bounded = ratio > -32768 && ratio < 32768 ? ratio : 0.0f;  // 0/0 and overflow have no integer
    const float zero_point = float(int8_t(int32_t(round_even(bounded))));
    for (int i = 0; i < n; ++i) {
        const float q = round_to_half_select(x[i] / scale), steps = q == q ? q : 0.0f;
        const float whole = fabsf(steps) < 32768 ? round_even(steps) : steps;
        codes[i] = uint8_t(int(round_code(round_to_half_select(whole + zero_point), top)));
    }
    return {scale, zero_point};
}
KVASIR_HD inline float integer_value(float code, float scale, float zero_point) {
    return round_to_half(scale * (code - zero_point));
}

/// What the originals dequantize: r(r(scale * code) + minimum).
KVASIR_HD inline float affine_value(float code, float scale, float minimum) {
    return round_to_half(round_to_half(scale * code) + minimum);
}

}  // namespace kvasir::kernels
