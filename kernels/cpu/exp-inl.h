// SPDX-License-Identifier: GPL-3.0-or-later
// exp for 8 lanes, at most 1 ulp from the true value.

#if defined(KVASIR_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVASIR_EXP_INL_H_
#undef KVASIR_EXP_INL_H_
#else
#define KVASIR_EXP_INL_H_
#endif

#include "kernels/cpu/simd8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// exp(x); 0 below -87.3 (where results turn subnormal), capped at exp(88.37), the largest that is finite.
/// x = n ln 2 + r: n by adding 1.5 * 2^23, whose mantissa then ends in the integer; ln 2 in two parts so that n * high
/// is exact; a minimax polynomial of degree 6 for |r| <= ln(2)/2 (relative error 3.1e-9); 2^n by adding n to the
/// exponent.
HWY_INLINE F8 exp8(F8 x) {
    const F8 bounded = Min(x, set8(88.3762589f));
    const F8 magic = set8(12582912.0f);
    const F8 shifted = MulAdd(bounded, set8(1.44269504f), magic);
    const F8 n = Sub(shifted, magic);
    F8 r = NegMulAdd(n, set8(0.693359375f), bounded);
    r = NegMulAdd(n, set8(-2.12194440e-4f), r);
    F8 p = set8(0.00138145988f);
    p = MulAdd(p, r, set8(0.00836871658f));
    p = MulAdd(p, r, set8(0.041668389f));
    p = MulAdd(p, r, set8(0.166665211f));
    p = MulAdd(p, r, set8(0.49999994f));
    // Measured: 0.88 ulp with fused multiply-add; without it the small terms have to be added first, for 0.98 ulp.
    p = HWY_NATIVE_FMA ? MulAdd(MulAdd(p, r, set8(1.0f)), r, set8(1.0f)) : Add(MulAdd(Mul(r, r), p, r), set8(1.0f));
    const F8 result = as_float(Add(as_bits(p), ShiftLeft<23>(as_bits(shifted))));
    return zero_if_less(x, set8(-87.3f), result);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
