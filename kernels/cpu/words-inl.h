// SPDX-License-Identifier: GPL-3.0-or-later
// Products of packed words with plain factors: the inner loop that matmul and attention scores share.

#if defined(KVASIR_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVASIR_WORDS_INL_H_
#undef KVASIR_WORDS_INL_H_
#else
#define KVASIR_WORDS_INL_H_
#endif

#undef KVASIR_FOR_QUERIES
#undef KVASIR_FOR_BITS_AND_QUERIES

#include <utility>

#include "kernels/cpu/simd8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Offsets of 8 groups as AffineForm says; without stored ones 1 stands in their place.
HWY_INLINE F8 group_offset(const uint16_t* offset, size_t at, F8 scale, F8 plain, F8 times_scale) {
    const F8 factor = MulAdd(times_scale, scale, plain);
    return offset ? Mul(load_half8(offset + at), factor) : factor;
}

/// Query vectors that share one pass over the codes of a cache.
constexpr int kQueryChunk = kOneRegister ? 4 : 1;

/// Calls function<first, H>(...) with H = n_queries (1 to kQueryChunk); `first` is a type or a constant.
#define KVASIR_FOR_QUERIES(function, first, n_queries, ...) \
    do {                                                    \
        if constexpr (kQueryChunk == 1) {                   \
            function<first, 1>(__VA_ARGS__);                \
        } else {                                            \
            switch (n_queries) {                            \
                case 1:                                     \
                    function<first, 1>(__VA_ARGS__);        \
                    break;                                  \
                case 2:                                     \
                    function<first, 2>(__VA_ARGS__);        \
                    break;                                  \
                case 3:                                     \
                    function<first, 3>(__VA_ARGS__);        \
                    break;                                  \
                default:                                    \
                    function<first, 4>(__VA_ARGS__);        \
                    break;                                  \
            }                                               \
        }                                                   \
    } while (false)

/// The same with first = bits.
#define KVASIR_FOR_BITS_AND_QUERIES(function, bits, n_queries, ...)      \
    do {                                                                 \
        switch (bits) {                                                  \
            case 1:                                                      \
                KVASIR_FOR_QUERIES(function, 1, n_queries, __VA_ARGS__); \
                break;                                                   \
            case 2:                                                      \
                KVASIR_FOR_QUERIES(function, 2, n_queries, __VA_ARGS__); \
                break;                                                   \
            case 4:                                                      \
                KVASIR_FOR_QUERIES(function, 4, n_queries, __VA_ARGS__); \
                break;                                                   \
            default:                                                     \
                KVASIR_FOR_QUERIES(function, 8, n_queries, __VA_ARGS__); \
                break;                                                   \
        }                                                                \
    } while (false)

template <int R, int N>
HWY_INLINE void clear(F8 (&a)[R][N]) {
    for (int r = 0; r < R; ++r)
        for (int n = 0; n < N; ++n)
            a[r][n] = zero8();
}

HWY_INLINE F8 load_exact(const float* p) {
    return load8(p);
}
HWY_INLINE F8 load_exact(const uint16_t* p) {
    return load_half8(p);
}

/// Slots converted from one half of the word: their masks stay below 2^16, so that the result is never negative.
constexpr int slots_per_half(int bits) {
    return 16 / bits;
}

/// Code `kIndex` of a word as code * 2^(kBits * kIndex): mask and convert, exact. The power of two is undone in the
/// other factor (slot_factor).
template <int kBits, int kIndex>
HWY_INLINE F8 slot_value(U8 word) {
    return to_float(And(word, set_u8(((1u << kBits) - 1u) << (kBits * kIndex))));
}

/// 2^-(bits * index), built from its bits: the exact inverse of what slot_value leaves on a code.
inline float slot_factor(int bits, int index) {
    return float_from_bits(uint32_t(127 - bits * index) << 23);
}

/// The upper half of each word as the lower one: 32 bytes from two further on, no shift and no register for the word.
/// (Words lie in little-endian order. The two bytes after the last word are read and masked away.)
HWY_INLINE U8 load_half_words(const uint32_t* words, int half) {
    return load_bytes_u8(reinterpret_cast<const uint8_t*>(words) + 2 * half);
}

template <int kBits, int kIndex, int R, int N>
HWY_INLINE void add_slot(const U8 (&word)[R], const float* HWY_RESTRICT x, size_t x_stride, F8 (&acc)[R][N]) {
    F8 value[R];
    for (int r = 0; r < R; ++r)
        value[r] = slot_value<kBits, kIndex>(word[r]);
    for (int n = 0; n < N; ++n) {
        const F8 b = set8(x[size_t(n) * x_stride]);
        for (int r = 0; r < R; ++r)
            acc[r][n] = MulAdd(value[r], b, acc[r][n]);
    }
}

template <int kBits, int R, int N, int... kIndex>
HWY_INLINE void add_slots(const U8 (&word)[R], const float* HWY_RESTRICT x, size_t slot_stride, size_t x_stride,
                          F8 (&acc)[R][N], std::integer_sequence<int, kIndex...>) {
    (add_slot<kBits, kIndex>(word, x + size_t(kIndex) * slot_stride, x_stride, acc), ...);
}

/// The same with one value at a time, from memory: 12 accumulators and 3 factors leave one register.
template <int kBits, int kIndex, int R, int N>
HWY_INLINE void add_slot_singly(const uint32_t* HWY_RESTRICT words, size_t word_stride, int half,
                                const float* HWY_RESTRICT x, size_t x_stride, F8 (&acc)[R][N]) {
    F8 b[N];
    for (int n = 0; n < N; ++n)
        b[n] = set8(x[size_t(n) * x_stride]);
    for (int r = 0; r < R; ++r) {
        const F8 value = slot_value<kBits, kIndex>(load_half_words(words + size_t(r) * word_stride, half));
        for (int n = 0; n < N; ++n)
            acc[r][n] = MulAdd(value, b[n], acc[r][n]);
    }
}

template <int kBits, int R, int N, int... kIndex>
HWY_INLINE void add_slots_singly(const uint32_t* HWY_RESTRICT words, size_t word_stride, int half,
                                 const float* HWY_RESTRICT x, size_t slot_stride, size_t x_stride, F8 (&acc)[R][N],
                                 std::integer_sequence<int, kIndex...>) {
    (add_slot_singly<kBits, kIndex>(words, word_stride, half, x + size_t(kIndex) * slot_stride, x_stride, acc), ...);
}

/// acc[r][n] += sum over the slots s of the word, ascending, of code_s * x[s * slot_stride + n * x_stride], x carrying
/// slot_factor(kBits, s % slots_per_half). R registers of words (8 rows or tokens each), the r-th at words + r *
/// word_stride.
template <int kBits, int R, int N>
HWY_INLINE void add_word(const uint32_t* HWY_RESTRICT words, size_t word_stride, const float* HWY_RESTRICT x,
                         size_t slot_stride, size_t x_stride, F8 (&acc)[R][N]) {
    constexpr int kSlots = slots_per_half(kBits);
#pragma GCC unroll 1
    for (int half = 0; half < 2; ++half, x += size_t(kSlots) * slot_stride) {
        if constexpr (R * N >= 12) {
            add_slots_singly<kBits>(words, word_stride, half, x, slot_stride, x_stride, acc,
                                    std::make_integer_sequence<int, kSlots>());
            continue;
        }
        U8 word[R];
        for (int r = 0; r < R; ++r)
            word[r] = load_half_words(words + size_t(r) * word_stride, half);
        add_slots<kBits>(word, x, slot_stride, x_stride, acc, std::make_integer_sequence<int, kSlots>());
    }
}

template <int kBits, int... kIndex>
HWY_INLINE void store_slots(U8 word, float* HWY_RESTRICT out, size_t stride, std::integer_sequence<int, kIndex...>) {
    (store8(slot_value<kBits, kIndex>(word), out + size_t(kIndex) * stride), ...);
}

/// Slot s of 8 words, as slot_value leaves it, at out + s * stride.
template <int kBits>
HWY_INLINE void unpack_word(U8 word, float* HWY_RESTRICT out, size_t stride) {
    constexpr int kSlots = slots_per_half(kBits);
    store_slots<kBits>(word, out, stride, std::make_integer_sequence<int, kSlots>());
    store_slots<kBits>(ShiftRight<16>(word), out + size_t(kSlots) * stride, stride,
                       std::make_integer_sequence<int, kSlots>());
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
