// SPDX-License-Identifier: GPL-3.0-or-later
// What every way through a matrix does with one block of 32 columns: where its sum starts and how it joins the total.
// Per-target include guard, as Highway wants it.
#if defined(KVASIR_MATMUL_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVASIR_MATMUL_BLOCK_INL_H_
#undef KVASIR_MATMUL_BLOCK_INL_H_
#else
#define KVASIR_MATMUL_BLOCK_INL_H_
#endif

#include <algorithm>

#include "kernels/cpu/r8_layout.h"
#include "kernels/cpu/words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

template <WeightType kType>
constexpr int kCodeBits = kType == WeightType::q8_0                                  ? 8
                          : (kType == WeightType::q4_0 || kType == WeightType::q4_1) ? 4
                                                                                     : 0;

/// Which form of a prepared activation fits the weights (kernels/cpu/r8_layout.h).
template <WeightType kType>
constexpr size_t activation_form = kCodeBits<kType> == 4   ? 1
                                   : kCodeBits<kType> == 8 ? 2
                                                           : 0;

/// 8 rows of column c of a block of exact weights.
template <WeightType kType>
HWY_INLINE F8 exact_weight(const uint8_t* w, int c) {
    if constexpr (kType == WeightType::f32) return load8(reinterpret_cast<const float*>(w) + 8 * c);
    if constexpr (kType == WeightType::f16) return load_half8(reinterpret_cast<const uint16_t*>(w) + 8 * c);
    return load_bf16_8(reinterpret_cast<const uint16_t*>(w) + 8 * c);
}

/// The block's sum before its first column: the offset of signed codes, which are stored unsigned.
template <WeightType kType>
HWY_INLINE F8 block_start(float sum_of_x) {
    if constexpr (kType == WeightType::q8_0) return set8(-128.0f * sum_of_x);
    if constexpr (kType == WeightType::q4_0) return set8(-8.0f * sum_of_x);
    return zero8();
}

/// total += the block's sums with its constants; sums of x at stride x_stride.
template <WeightType kType, int N>
HWY_INLINE void finish_block(const uint8_t* w, const float* HWY_RESTRICT sums, size_t x_stride, const F8 (&acc)[N],
                             F8 (&total)[N]) {
    if constexpr (kCodeBits<kType> == 0) {
        for (int n = 0; n < N; ++n)
            total[n] = Add(total[n], acc[n]);
    } else {
        const auto* constants = reinterpret_cast<const uint16_t*>(w + 32 * kCodeBits<kType>);
        const F8 d = load_half8(constants);
        for (int n = 0; n < N; ++n)
            total[n] = MulAdd(d, acc[n], total[n]);
        if constexpr (kType == WeightType::q4_1) {
            const F8 m = load_half8(constants + 8);
            for (int n = 0; n < N; ++n)
                total[n] = MulAdd(m, set8(sums[size_t(n) * x_stride]), total[n]);
        }
    }
}

struct Job {
    const uint8_t* weights;
    int rows, cols, first_block;
    float* y;
    size_t y_stride;
};

/// Rows [row, row + 8) of one vector's result; the last rows may be padding.
HWY_INLINE void store_rows(F8 total, const Job& job, int row, int vector) {
    float* y = job.y + size_t(vector) * job.y_stride + row;
    if (row + 8 <= job.rows) {
        store8(total, y);
    } else if (row < job.rows) {
        float padded[8];
        store8(total, padded);
        std::copy(padded, padded + (job.rows - row), y);
    }
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
