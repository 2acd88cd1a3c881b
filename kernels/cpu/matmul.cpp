// SPDX-License-Identifier: GPL-3.0-or-later
// Direct product from R8 blocks. Order of operations of one element, whatever n and the tiling:
//   per 32 columns, from block first_block on and round: acc = start; acc = fma(code, x', acc) for ascending columns;
//   total = fma(d, acc, total); q4_1 then total = fma(m, sum of x, total). q4_0 and q8_0 start at -8 or -128 times the
//   sum of x.
// 4 vectors x 2 row blocks give 8 independent accumulators: two fused multiply-adds per cycle at a latency of four.
// Prompts take the same steps from unpacked codes (kernels/cpu/matmul_panel-inl.h).
#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/fetch_ahead.h"
#include "kernels/cpu/hwy_targets.h"
#include "kernels/cpu/r8_layout.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/matmul_panel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// R row blocks of a quad x N vectors in one pass over the columns. `x` is the form of the activations that fits kType.
template <WeightType kType, int R, int N>
struct Tile {
    static constexpr int kBits = kCodeBits<kType>;
    static constexpr size_t kBlockBytes = r8_block_bytes(kType), kQuadBytes = kQuad * kBlockBytes;
    F8 acc[R][N], total[R][N];

    HWY_INLINE void codes(const uint8_t* HWY_RESTRICT w, const float* HWY_RESTRICT x, size_t x_stride) {
        constexpr int kSlots = 32 / kBits, kWords = 32 / kSlots;
        const auto* words = reinterpret_cast<const uint32_t*>(w);
#pragma GCC unroll 1
        for (int v = 0; v < kWords; ++v)
            add_word<kBits>(words + 8 * v, kBlockBytes / sizeof(uint32_t), x + v * kSlots, 1, x_stride, acc);
    }

    HWY_INLINE void exact(const uint8_t* HWY_RESTRICT w, const float* HWY_RESTRICT x, size_t x_stride) {
#pragma GCC unroll 4
        for (int c = 0; c < 32; ++c) {
            F8 value[R];
            for (int r = 0; r < R; ++r)
                value[r] = exact_weight<kType>(w + size_t(r) * kBlockBytes, c);
            for (int n = 0; n < N; ++n) {
                const F8 b = set8(x[size_t(n) * x_stride + size_t(c)]);
                for (int r = 0; r < R; ++r)
                    acc[r][n] = MulAdd(value[r], b, acc[r][n]);
            }
        }
    }

    /// Adds the products of n_blocks blocks of columns to total; w is the first of them. `fetch`: this pass is the one
    /// that comes from memory, and w the beginning of a quad.
    HWY_INLINE void add_blocks(const uint8_t* HWY_RESTRICT w, bool fetch, int n_blocks, const float* HWY_RESTRICT x,
                               const float* HWY_RESTRICT sums, size_t x_stride) {
        FetchAhead ahead(w);
        for (int b = 0; b < n_blocks; ++b, w += kQuadBytes, x += 32, ++sums) {
            if (fetch) ahead.next(kQuadBytes);
            for (int n = 0; n < N; ++n)
                for (int r = 0; r < R; ++r)
                    acc[r][n] = block_start<kType>(sums[size_t(n) * x_stride]);
            if constexpr (kBits == 0)
                exact(w, x, x_stride);
            else
                codes(w, x, x_stride);
            for (int r = 0; r < R; ++r)
                finish_block<kType>(w + size_t(r) * kBlockBytes, sums, x_stride, acc[r], total[r]);
        }
    }
};

template <WeightType kType, int R, int N>
HWY_NOINLINE void run_tile(const Job& job, int row_block, int vector, const float* prepared) {
    const size_t cols = size_t(job.cols);
    Tile<kType, R, N> t;
    const size_t stride = activation_stride(job.cols);
    const float* x = prepared + size_t(vector) * stride;
    const int n_blocks = job.cols / 32;
    const bool first = vector == 0 && row_block % kQuad == 0;
    clear(t.total);
    const std::pair<int, int> parts[] = {{job.first_block, n_blocks}, {0, job.first_block}};
    for (const auto& [begin, end] : parts) {
        const uint8_t* w = job.weights + r8_block_at(kType, n_blocks, row_block, begin);
        t.add_blocks(w, first, end - begin, x + activation_form<kType> * cols + 32 * begin, x + 3 * cols + begin,
                     stride);
    }
    for (int r = 0; r < R; ++r)
        for (int n = 0; n < N; ++n)
            store_rows(t.total[r][n], job, 8 * (row_block + r), vector + n);
}

/// Most vectors in one pass: 5 x 2 row blocks leave no register idle.
constexpr int kVectorTile = kOneRegister ? 5 : 1;

/// Vectors of the next pass when n are left: passes of 3 to 5 rather than a last one of 1 or 2, which is far slower.
constexpr int tile_size(int n) {
    if (n <= kVectorTile || kVectorTile == 1) return n < kVectorTile ? n : kVectorTile;
    return n == 6 ? 3 : n == 7 ? 4 : kVectorTile;
}

/// All vectors for R row blocks: their weights stay in the first-level cache.
template <WeightType kType, int R>
HWY_INLINE void run_vectors(const Job& job, int row_block, const float* prepared, int n) {
    for (int vector = 0; vector < n;) {
        const int size = tile_size(n - vector);
        if constexpr (kVectorTile == 1) {
            run_tile<kType, R, 1>(job, row_block, vector, prepared);
        } else {
            switch (size) {
                case 1:
                    run_tile<kType, R, 1>(job, row_block, vector, prepared);
                    break;
                case 2:
                    run_tile<kType, R, 2>(job, row_block, vector, prepared);
                    break;
                case 3:
                    run_tile<kType, R, 3>(job, row_block, vector, prepared);
                    break;
                case 4:
                    run_tile<kType, R, 4>(job, row_block, vector, prepared);
                    break;
                default:
                    run_tile<kType, R, 5>(job, row_block, vector, prepared);
                    break;
            }
        }
        vector += size;
    }
}

template <WeightType kType>
void run_type(const Job& job, int block_begin, int block_end, const float* prepared, int n) {
    for (int b = block_begin; b < block_end;) {
        const int left = std::min(kQuad - b % kQuad, block_end - b);  // of this quad
        if (kOneRegister && n >= kFewestPanelVectors && b % kPanelRows == 0 && left >= kPanelRows) {
            const int n_pairs = (block_end - b) / kPanelRows;
            run_panel<kType>(job, b, n_pairs, prepared, n);
            b += n_pairs * kPanelRows;
        } else if (kOneRegister && left == kQuad && n <= 2) {  // few vectors leave registers for more row blocks
            n == 1 ? run_tile<kType, kQuad, 1>(job, b, 0, prepared) : run_tile<kType, kQuad, 2>(job, b, 0, prepared);
            b += kQuad;
        } else if (kOneRegister && left >= 2) {
            run_vectors<kType, 2>(job, b, prepared, n);
            b += 2;
        } else {
            run_vectors<kType, 1>(job, b, prepared, n);
            ++b;
        }
    }
}

void Matmul(const PackedMatrix& w, int block_begin, int block_end, const float* prepared, int n, float* y,
            size_t y_stride, int sum_order) {
    const int cols = padded_columns(w.cols());
    const Job job{w.data(), w.rows(), cols, sum_order % (cols / 32), y, y_stride};
    switch (w.type()) {
        case WeightType::f32:
            return run_type<WeightType::f32>(job, block_begin, block_end, prepared, n);
        case WeightType::f16:
            return run_type<WeightType::f16>(job, block_begin, block_end, prepared, n);
        case WeightType::bf16:
            return run_type<WeightType::bf16>(job, block_begin, block_end, prepared, n);
        case WeightType::q8_0:
            return run_type<WeightType::q8_0>(job, block_begin, block_end, prepared, n);
        case WeightType::q4_0:
            return run_type<WeightType::q4_0>(job, block_begin, block_end, prepared, n);
        case WeightType::q4_1:
            return run_type<WeightType::q4_1>(job, block_begin, block_end, prepared, n);
    }
}

/// One block of 32 columns in its three forms, and its sum.
struct PreparedForms {
    float *plain, *four, *eight, *sums;
};

HWY_INLINE void prepare_block(const float* x, int c, const PreparedForms& to, F8 factor4, F8 factor8) {
    F8 sum = zero8();
    for (int i = 0; i < 32; i += 8) {
        const F8 v = load8(x + i);
        sum = Add(sum, v);
        store8(v, to.plain + c + i);
        store8(Mul(v, factor4), to.four + c + i);
        store8(Mul(v, factor8), to.eight + c + i);
    }
    to.sums[c / 32] = sum8(sum);
}

void PrepareActivation(const float* x, int index, int cols, float* prepared) {
    static constexpr float kFourBits[8] = {1.0f, 0x1p-4f, 0x1p-8f, 0x1p-12f, 1.0f, 0x1p-4f, 0x1p-8f, 0x1p-12f};
    static constexpr float kEightBits[8] = {1.0f, 0x1p-8f, 1.0f, 0x1p-8f, 1.0f, 0x1p-8f, 1.0f, 0x1p-8f};
    const int stored = padded_columns(cols), whole = cols / 32 * 32;
    float* const plain = prepared + size_t(index) * activation_stride(cols);
    const PreparedForms to{plain, plain + stored, plain + 2 * stored, plain + 3 * stored};
    const F8 factor4 = load8(kFourBits), factor8 = load8(kEightBits);
    for (int c = 0; c < whole; c += 32)
        prepare_block(x + c, c, to, factor4, factor8);
    if (whole == cols) return;
    float last[32] = {};
    std::copy(x + whole, x + cols, last);
    prepare_block(last, whole, to, factor4, factor8);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(Matmul);
HWY_EXPORT(PrepareActivation);

size_t activation_floats(int n, int cols) {
    return size_t(n) * activation_stride(cols);
}

void prepare_activation(const float* x, int index, int cols, float* prepared) {
    HWY_DYNAMIC_DISPATCH(PrepareActivation)(x, index, cols, prepared);
}

void matmul(const PackedMatrix& w, int block_begin, int block_end, const float* prepared, int n, float* y,
            size_t y_stride, int sum_order) {
    HWY_DYNAMIC_DISPATCH(Matmul)(w, block_begin, block_end, prepared, n, y, y_stride, sum_order);
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
