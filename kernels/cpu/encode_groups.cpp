// SPDX-License-Identifier: GPL-3.0-or-later
// The loops of kernels/codec are plain; compiled here for each target they become vector code. Written out are the
// range of a group, whose comparisons a compiler may not reorder, and the codes of the affine forms, because the
// machine rounds to fp16 in one instruction.
#include "kernels/cpu/encode_groups.h"

#include <algorithm>
#include <cstring>

#include "kernels/codec/affine.h"
#include "kernels/codec/ggml.h"
#include "kernels/codec/ternary.h"
#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/encode_groups.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/simd8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// group_range to the bit: of equal values, which may be zeros of either sign, it takes the first.
HWY_INLINE GroupRange RangeOf(const float* x, int n) {
    if (!kOneRegister || n % 8 != 0) return group_range(x, n);
    F8 lo = load8(x), hi = lo, sum = Sub(lo, lo);
    for (int i = 8; i < n; i += 8) {
        const F8 v = load8(x + i);
        lo = Min(lo, v);
        hi = Max(hi, v);
        sum = Add(sum, Sub(v, v));  // 0, or NaN where a value is not finite
    }
    float low[8], high[8];
    store8(lo, low);
    store8(hi, high);
    GroupRange r{low[0], high[0]};
    for (int i = 1; i < 8; ++i) {
        r.lo = low[i] < r.lo ? low[i] : r.lo;
        r.hi = high[i] > r.hi ? high[i] : r.hi;
    }
    return sum8(sum) == 0 && r.lo != 0 && r.hi != 0 ? r : group_range(x, n);
}

/// ggml_extreme to the bit.
HWY_INLINE float ExtremeOf(const float* x, int n) {
    if (!kOneRegister || n % 8 != 0) return ggml_extreme(x, n);
    F8 most = zero8(), sum = most;
    for (int i = 0; i < n; i += 8) {
        const F8 v = load8(x + i);
        most = Max(most, Abs(v));
        sum = Add(sum, Sub(v, v));  // 0, or NaN where a value is not finite
    }
    float lane[8];
    store8(most, lane);
    if (sum8(sum) != 0) return ggml_extreme(x, n);
    const float best = *std::max_element(lane, lane + 8);
    return *std::find_if(x, x + n, [best](float v) { return fabsf(v) == best; });
}

/// round_code and its byte.
HWY_INLINE void StoreCodes(F8 q, F8 top, uint8_t* codes) {
    const F8 zero = zero8(), no_fraction = set8(12582912.0f);
    q = if_less(zero, q, q, zero);  // NaN becomes 0
    q = if_less(q, top, q, top);
    store_bytes8(Sub(Add(q, no_fraction), no_fraction), codes);
}

AffineConstants EncodeAffine(const float* x, int n, int bits, float least_range, uint8_t* codes) {
    const GroupRange range = RangeOf(x, n);
    if (!kOneRegister || n % 8 != 0) return affine_encode(x, n, range, bits, least_range, codes);
    const float scale = affine_scale(range, bits, least_range);
    const F8 lo = set8(range.lo), divisor = set8(scale), top = set8(float((1 << bits) - 1));
    for (int i = 0; i < n; i += 8)
        StoreCodes(round_half8(Div(round_half8(Sub(load8(x + i), lo)), divisor)), top, codes + i);
    return {scale, range.lo};
}

AffineConstants EncodeAffineF32(const float* x, int n, int bits, uint8_t* codes) {
    const GroupRange range = RangeOf(x, n);
    if (!kOneRegister || n % 8 != 0) return affine_encode_f32(x, n, range, bits, codes);
    const float scale = affine_scale_f32(range, bits);
    const F8 lo = set8(range.lo), divisor = set8(scale), top = set8(float((1 << bits) - 1));
    for (int i = 0; i < n; i += 8)
        StoreCodes(Div(Sub(load8(x + i), lo), divisor), top, codes + i);
    return {round_to_half(scale), round_to_half(range.lo)};
}

AffineConstants EncodeGroup(const GroupEncoder& how, const float* x, int n, uint8_t* codes) {
    switch (how.encoding) {
        case GroupEncoding::affine: {
            const AffineConstants c = EncodeAffine(x, n, how.bits, how.least_range, codes);
            return {c.scale, how.offset_sign * c.minimum};
        }
        case GroupEncoding::affine_f32: {
            const AffineConstants c = EncodeAffineF32(x, n, how.bits, codes);
            return {c.scale, how.offset_sign * c.minimum};
        }
        case GroupEncoding::affine_integer: {
            const IntegerConstants c = affine_encode_integer(x, n, RangeOf(x, n), how.bits, codes);
            return {c.scale, c.zero_point};
        }
        case GroupEncoding::ternary:
            return {ternary_encode(x, n, codes), 0};
        case GroupEncoding::ggml_q8:
            return {ggml_encode_q8(x, n, ExtremeOf(x, n), codes).d, 0};
        case GroupEncoding::ggml_symmetric:
            return {ggml_encode_symmetric(x, n, ExtremeOf(x, n), how.bits, codes).d, 0};
        case GroupEncoding::ggml_offset: {
            const GgmlConstants c = ggml_encode_offset(x, n, how.bits, codes);
            return {c.d, c.m};
        }
    }
    return {};
}

void EncodeGroups(const GroupEncoder& how, const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                  uint16_t* offset) {
    for (size_t g = 0; g < n_groups; ++g, x += group, codes += group) {
        const AffineConstants c = EncodeGroup(how, x, group, codes);
        scale[g] = float_to_half(c.scale);
        if (offset) offset[g] = float_to_half(c.minimum);
    }
}

bool GroupsRest(const GroupEncoder& how, const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                const uint16_t* offset) {
    alignas(64) float values[kLargestRestingGroup];
    uint8_t again[kLargestRestingGroup];
    for (size_t g = 0; g < n_groups; ++g, codes += group) {
        const float s = half_to_float(scale[g]), minimum = how.offset_sign * half_to_float(offset[g]);
        int i = 0;
        for (; kOneRegister && i + 8 <= group; i += 8)
            store8(round_half8(Add(round_half8(Mul(set8(s), load_bytes8(codes + i))), set8(minimum))), values + i);
        for (; i < group; ++i)
            values[i] = affine_value(float(codes[i]), s, minimum);
        const AffineConstants c = EncodeAffine(values, group, how.bits, how.least_range, again);
        if (float_to_half(c.scale) != scale[g] || float_to_half(how.offset_sign * c.minimum) != offset[g] ||
            std::memcmp(again, codes, size_t(group)) != 0)
            return false;
    }
    return true;
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(EncodeGroups);
HWY_EXPORT(GroupsRest);

void encode_groups(const GroupEncoder& how, const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                   uint16_t* offset) {
    HWY_DYNAMIC_DISPATCH(EncodeGroups)(how, x, n_groups, group, codes, scale, offset);
}

bool knows_rest(const GroupEncoder& how, int group) {
    return how.encoding == GroupEncoding::affine && group <= kLargestRestingGroup;
}

bool groups_rest(const GroupEncoder& how, const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                 const uint16_t* offset) {
    return HWY_DYNAMIC_DISPATCH(GroupsRest)(how, codes, n_groups, group, scale, offset);
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
