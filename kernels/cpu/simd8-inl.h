// SPDX-License-Identifier: GPL-3.0-or-later
// Vectors of exactly 8 fp32 (F8) or uint32 (U8) lanes on Highway: one register on AVX2, parts elsewhere. Layouts and
// orders of sums are therefore the same on every target. On AVX2 the arithmetic (Add, Mul, MulAdd ...) is Highway's
// own, found by argument-dependent look-up; for parts the same names are defined here.

// Include guard per target, as Highway's documentation prescribes.
#if defined(KVASIR_SIMD8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVASIR_SIMD8_INL_H_
#undef KVASIR_SIMD8_INL_H_
#else
#define KVASIR_SIMD8_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/codec/half.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

/// Whether a vector is one register: elsewhere kernels keep to few accumulators and few variants.
constexpr bool kOneRegister = true;

using DF = hn::FixedTag<float, 8>;
using DU = hn::FixedTag<uint32_t, 8>;
using F8 = hn::Vec<DF>;
using U8 = hn::Vec<DU>;

HWY_INLINE F8 zero8() {
    return hn::Zero(DF());
}
HWY_INLINE F8 set8(float x) {
    return hn::Set(DF(), x);
}
HWY_INLINE U8 set_u8(uint32_t x) {
    return hn::Set(DU(), x);
}
HWY_INLINE F8 load8(const float* p) {
    return hn::LoadU(DF(), p);
}
HWY_INLINE U8 load8(const uint32_t* p) {
    return hn::LoadU(DU(), p);
}
/// 32 bytes at any address.
HWY_INLINE U8 load_bytes_u8(const uint8_t* p) {
    return hn::BitCast(DU(), hn::LoadU(hn::FixedTag<uint8_t, 32>(), p));
}
HWY_INLINE void store8(F8 v, float* p) {
    hn::StoreU(v, DF(), p);
}
HWY_INLINE F8 as_float(U8 u) {
    return hn::BitCast(DF(), u);
}
HWY_INLINE U8 as_bits(F8 v) {
    return hn::BitCast(DU(), v);
}
/// Numeric value of integers below 2^31.
HWY_INLINE F8 to_float(U8 u) {
    return hn::ConvertTo(DF(), hn::BitCast(hn::FixedTag<int32_t, 8>(), u));
}
/// a where x < y, else b.
HWY_INLINE F8 if_less(F8 x, F8 y, F8 a, F8 b) {
    return hn::IfThenElse(hn::Lt(x, y), a, b);
}
/// 0 where x < y, else a.
HWY_INLINE F8 zero_if_less(F8 x, F8 y, F8 a) {
    return hn::IfThenZeroElse(hn::Lt(x, y), a);
}
/// x < y in every lane, in some lane; false where one is NaN.
HWY_INLINE bool all_less(F8 x, F8 y) {
    return hn::AllTrue(DF(), hn::Lt(x, y));
}
HWY_INLINE bool any_less(F8 x, F8 y) {
    return !hn::AllFalse(DF(), hn::Lt(x, y));
}

HWY_INLINE F8 load_half8(const uint16_t* p) {
    const hn::FixedTag<hwy::float16_t, 8> dh;
    return hn::PromoteTo(DF(), hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(p)));
}
HWY_INLINE void store_half8(F8 v, uint16_t* p) {
    const hn::FixedTag<hwy::float16_t, 8> dh;
    hn::StoreU(hn::DemoteTo(dh, v), dh, reinterpret_cast<hwy::float16_t*>(p));
}
/// Each value rounded to the nearest fp16.
HWY_INLINE F8 round_half8(F8 v) {
    return hn::PromoteTo(DF(), hn::DemoteTo(hn::FixedTag<hwy::float16_t, 8>(), v));
}
/// Whole numbers from 0 to 255 as bytes.
HWY_INLINE void store_bytes8(F8 v, uint8_t* p) {
    const auto whole = hn::ConvertTo(hn::FixedTag<int32_t, 8>(), v);
    hn::StoreU(hn::DemoteTo(hn::FixedTag<uint8_t, 8>(), whole), hn::FixedTag<uint8_t, 8>(), p);
}
HWY_INLINE F8 load_bytes8(const uint8_t* p) {
    return hn::ConvertTo(DF(), hn::PromoteTo(hn::FixedTag<int32_t, 8>(), hn::LoadU(hn::FixedTag<uint8_t, 8>(), p)));
}
HWY_INLINE F8 load_bf16_8(const uint16_t* p) {
    return as_float(hn::ShiftLeft<16>(hn::PromoteTo(DU(), hn::LoadU(hn::FixedTag<uint16_t, 8>(), p))));
}

/// ((v0+v4) + (v2+v6)) + ((v1+v5) + (v3+v7)), on every target.
HWY_INLINE float sum8(F8 v) {
    const hn::FixedTag<float, 4> d4;
    const auto four = hn::Add(hn::LowerHalf(d4, v), hn::UpperHalf(d4, v));
    const auto two = hn::Add(four, hn::Shuffle1032(four));
    return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
}

/// The sums of 8 vectors, ((v0+v2) + (v1+v3)) + ((v4+v6) + (v5+v7)) of each, on every target.
HWY_INLINE F8 sums8(const F8 (&v)[8]) {
    const DF d;
    const auto pair = [&](F8 a, F8 b) { return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
    const auto four = [&](F8 ab, F8 cd) {
        const hn::FixedTag<double, 4> wide;  // two sums move together
        const auto x = hn::BitCast(wide, ab), y = hn::BitCast(wide, cd);
        return hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, x, y)),
                       hn::BitCast(d, hn::InterleaveUpper(wide, x, y)));
    };
    const F8 low = four(pair(v[0], v[1]), pair(v[2], v[3])), high = four(pair(v[4], v[5]), pair(v[6], v[7]));
    return hn::Add(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
}

/// Stages h = 1, 2, 4 of the Hadamard transform inside a vector.
HWY_INLINE F8 butterfly8(F8 v) {
    alignas(32) static constexpr uint32_t kSign[24] = {
        0, 1u << 31, 0,        1u << 31, 0,        1u << 31, 0,        1u << 31,  //
        0, 0,        1u << 31, 1u << 31, 0,        0,        1u << 31, 1u << 31,  //
        0, 0,        0,        0,        1u << 31, 1u << 31, 1u << 31, 1u << 31};
    v = hn::Add(hn::Shuffle2301(v), hn::Xor(v, as_float(load8(kSign))));
    v = hn::Add(hn::Shuffle1032(v), hn::Xor(v, as_float(load8(kSign + 8))));
    return hn::Add(hn::ConcatLowerUpper(DF(), v, v), hn::Xor(v, as_float(load8(kSign + 16))));
}

/// 8 sums in double, lane by lane.
struct D8 {
    hn::Vec<hn::FixedTag<double, 4>> lo, hi;

    HWY_INLINE D8() : lo(hn::Zero(hn::FixedTag<double, 4>())), hi(lo) {}  // an implicit one would miss the target

    HWY_INLINE void add(F8 v) {
        const hn::FixedTag<float, 4> d4;
        const hn::FixedTag<double, 4> dd;
        lo = hn::Add(lo, hn::PromoteTo(dd, hn::LowerHalf(d4, v)));
        hi = hn::Add(hi, hn::PromoteTo(dd, hn::UpperHalf(d4, v)));
    }
    HWY_INLINE double sum() const {
        alignas(32) double s[4];
        hn::Store(hn::Add(lo, hi), hn::FixedTag<double, 4>(), s);
        return (s[0] + s[2]) + (s[1] + s[3]);
    }
};

#else  // parts of the target's native width, at most 4 lanes

constexpr bool kOneRegister = false;

using DF = hn::CappedTag<float, 4>;
using DU = hn::CappedTag<uint32_t, 4>;
constexpr size_t kLanes = hn::MaxLanes(DF());
constexpr size_t kParts = 8 / kLanes;

struct F8 {
    hn::Vec<DF> part[kParts];
};
struct U8 {
    hn::Vec<DU> part[kParts];
};

#define KVASIR_EACH_PART(result, expression) \
    result r;                                \
    for (size_t i = 0; i < kParts; ++i)      \
        r.part[i] = expression;              \
    return r

HWY_INLINE F8 zero8() {
    KVASIR_EACH_PART(F8, hn::Zero(DF()));
}
HWY_INLINE F8 set8(float x) {
    KVASIR_EACH_PART(F8, hn::Set(DF(), x));
}
HWY_INLINE U8 set_u8(uint32_t x) {
    KVASIR_EACH_PART(U8, hn::Set(DU(), x));
}
HWY_INLINE F8 load8(const float* p) {
    KVASIR_EACH_PART(F8, hn::LoadU(DF(), p + i * kLanes));
}
HWY_INLINE U8 load8(const uint32_t* p) {
    KVASIR_EACH_PART(U8, hn::LoadU(DU(), p + i * kLanes));
}
HWY_INLINE U8 load_bytes_u8(const uint8_t* p) {
    U8 r;
    std::memcpy(&r, p, sizeof(r));
    return r;
}
HWY_INLINE void store8(F8 v, float* p) {
    for (size_t i = 0; i < kParts; ++i)
        hn::StoreU(v.part[i], DF(), p + i * kLanes);
}
HWY_INLINE F8 as_float(U8 u) {
    KVASIR_EACH_PART(F8, hn::BitCast(DF(), u.part[i]));
}
HWY_INLINE U8 as_bits(F8 v) {
    KVASIR_EACH_PART(U8, hn::BitCast(DU(), v.part[i]));
}
HWY_INLINE F8 to_float(U8 u) {
    KVASIR_EACH_PART(F8, hn::ConvertTo(DF(), hn::BitCast(hn::RebindToSigned<DU>(), u.part[i])));
}
HWY_INLINE F8 if_less(F8 x, F8 y, F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::IfThenElse(hn::Lt(x.part[i], y.part[i]), a.part[i], b.part[i]));
}
HWY_INLINE F8 zero_if_less(F8 x, F8 y, F8 a) {
    KVASIR_EACH_PART(F8, hn::IfThenZeroElse(hn::Lt(x.part[i], y.part[i]), a.part[i]));
}
HWY_INLINE bool all_less(F8 x, F8 y) {
    bool all = true;
    for (size_t i = 0; i < kParts; ++i)
        all = all && hn::AllTrue(DF(), hn::Lt(x.part[i], y.part[i]));
    return all;
}
HWY_INLINE bool any_less(F8 x, F8 y) {
    bool any = false;
    for (size_t i = 0; i < kParts; ++i)
        any = any || !hn::AllFalse(DF(), hn::Lt(x.part[i], y.part[i]));
    return any;
}
HWY_INLINE F8 Add(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Add(a.part[i], b.part[i]));
}
HWY_INLINE F8 Sub(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Sub(a.part[i], b.part[i]));
}
HWY_INLINE F8 Mul(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Mul(a.part[i], b.part[i]));
}
HWY_INLINE F8 Div(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Div(a.part[i], b.part[i]));
}
HWY_INLINE F8 Max(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Max(a.part[i], b.part[i]));
}
HWY_INLINE F8 Min(F8 a, F8 b) {
    KVASIR_EACH_PART(F8, hn::Min(a.part[i], b.part[i]));
}
HWY_INLINE F8 Neg(F8 a) {
    KVASIR_EACH_PART(F8, hn::Neg(a.part[i]));
}
HWY_INLINE F8 Abs(F8 a) {
    KVASIR_EACH_PART(F8, hn::Abs(a.part[i]));
}
HWY_INLINE F8 MulAdd(F8 a, F8 b, F8 c) {
    KVASIR_EACH_PART(F8, hn::MulAdd(a.part[i], b.part[i], c.part[i]));
}
HWY_INLINE F8 NegMulAdd(F8 a, F8 b, F8 c) {
    KVASIR_EACH_PART(F8, hn::NegMulAdd(a.part[i], b.part[i], c.part[i]));
}
HWY_INLINE U8 And(U8 a, U8 b) {
    KVASIR_EACH_PART(U8, hn::And(a.part[i], b.part[i]));
}
HWY_INLINE U8 Add(U8 a, U8 b) {
    KVASIR_EACH_PART(U8, hn::Add(a.part[i], b.part[i]));
}
template <int kBits>
HWY_INLINE U8 ShiftRight(U8 a) {
    KVASIR_EACH_PART(U8, hn::ShiftRight<kBits>(a.part[i]));
}
template <int kBits>
HWY_INLINE U8 ShiftLeft(U8 a) {
    KVASIR_EACH_PART(U8, hn::ShiftLeft<kBits>(a.part[i]));
}
#undef KVASIR_EACH_PART

HWY_INLINE F8 load_half8(const uint16_t* p) {
    float f[8];
    for (int i = 0; i < 8; ++i)
        f[i] = half_to_float(p[i]);
    return load8(f);
}
HWY_INLINE void store_half8(F8 v, uint16_t* p) {
    float f[8];
    store8(v, f);
    for (int i = 0; i < 8; ++i)
        p[i] = float_to_half(f[i]);
}
HWY_INLINE F8 round_half8(F8 v) {
    uint16_t h[8];
    store_half8(v, h);
    return load_half8(h);
}
HWY_INLINE void store_bytes8(F8 v, uint8_t* p) {
    float f[8];
    store8(v, f);
    for (int i = 0; i < 8; ++i)
        p[i] = uint8_t(int(f[i]));
}
HWY_INLINE F8 load_bytes8(const uint8_t* p) {
    float f[8];
    for (int i = 0; i < 8; ++i)
        f[i] = float(p[i]);
    return load8(f);
}
HWY_INLINE F8 load_bf16_8(const uint16_t* p) {
    float f[8];
    for (int i = 0; i < 8; ++i)
        f[i] = float_from_bits(uint32_t(p[i]) << 16);
    return load8(f);
}
HWY_INLINE float sum8(F8 v) {
    float f[8];
    store8(v, f);
    return ((f[0] + f[4]) + (f[2] + f[6])) + ((f[1] + f[5]) + (f[3] + f[7]));
}
HWY_INLINE F8 sums8(const F8 (&v)[8]) {
    float f[8], s[8];
    for (int i = 0; i < 8; ++i) {
        store8(v[i], f);
        s[i] = ((f[0] + f[2]) + (f[1] + f[3])) + ((f[4] + f[6]) + (f[5] + f[7]));
    }
    return load8(s);
}
HWY_INLINE F8 butterfly8(F8 v) {
    float f[8];
    store8(v, f);
    for (int h = 1; h < 8; h *= 2)
        for (int i = 0; i < 8; ++i)
            if ((i & h) == 0) {
                const float a = f[i], b = f[i + h];
                f[i] = a + b;
                f[i + h] = a - b;
            }
    return load8(f);
}
struct D8 {
    double lane[8] = {};
    HWY_INLINE void add(F8 v) {
        float f[8];
        store8(v, f);
        for (int i = 0; i < 8; ++i)
            lane[i] += double(f[i]);
    }
    HWY_INLINE double sum() const {
        return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    }
};

#endif

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
