// SPDX-License-Identifier: GPL-3.0-or-later
// IEEE 754 binary16 to and from binary32, on the bits: the same results on every compiler, on the CPU and in CUDA code.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define KVASIR_HD __host__ __device__
#else
#define KVASIR_HD
#endif

namespace kvasir::kernels {

KVASIR_HD inline uint32_t float_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

KVASIR_HD inline float float_from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/// Exact. NaN stays NaN (quiet, payload kept), infinities and subnormals keep their value.
KVASIR_HD inline float half_to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t magnitude = uint32_t(h & 0x7fffu) << 13;  // fp16 exponent and mantissa at fp32's places
    if (magnitude >= 0x0f800000u) {                          // exponent 31: infinity or NaN
        const uint32_t quiet = magnitude > 0x0f800000u ? 0x00400000u : 0u;
        return float_from_bits(sign | 0x70000000u | magnitude | quiet);
    }
    // Read as fp32 the value is 2^112 too small; the product is exact, for fp16 subnormals too.
    const float value = float_from_bits(magnitude) * float_from_bits(0x77800000u);
    return float_from_bits(sign | float_bits(value));
}

/// Rounds to nearest even; beyond 65519.99 to infinity; results below 2^-14 are subnormal; NaN stays NaN.
KVASIR_HD inline uint16_t float_to_half(float f) {
    const uint32_t bits = float_bits(f);
    const uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x47800000u) {  // >= 65536, infinity or NaN
        const uint32_t payload = magnitude > 0x7f800000u ? 0x0200u | ((magnitude >> 13) & 0x03ffu) : 0u;
        return uint16_t(sign | 0x7c00u | payload);
    }
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the 10 subnormal bits at the end of the mantissa
        const uint32_t sum = float_bits(float_from_bits(magnitude) + 0.5f);
        return uint16_t(sign | (sum - 0x3f000000u));
    }
    // Rebias by -112 and add just under half a unit, one more when the kept part is odd. A carry runs into the
    // exponent, up to infinity, as it should.
    const uint32_t rounded = magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u);
    return uint16_t(sign | (rounded >> 13));
}

/// The nearest fp16 value, as fp32.
KVASIR_HD inline float round_to_half(float f) {
    return half_to_float(float_to_half(f));
}

}  // namespace kvasir::kernels
