// SPDX-License-Identifier: GPL-3.0-or-later
// The product for many vectors (prompts): two row blocks (a pair) of a few column blocks are unpacked once into the
// first-level cache and used by all vectors, six at a time. The operations of one element and their order are those of
// the direct product, so are its bits; only the unpacking is shared. Per-target include guard, as Highway wants it.
#if defined(KVASIR_MATMUL_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVASIR_MATMUL_PANEL_INL_H_
#undef KVASIR_MATMUL_PANEL_INL_H_
#else
#define KVASIR_MATMUL_PANEL_INL_H_
#endif

#include <utility>
#include <vector>

#include "kernels/cpu/matmul_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Fewer vectors do not pay for the unpacking.
constexpr int kFewestPanelVectors = 12;

constexpr int kPanelRows = 2;       ///< row blocks
constexpr int kPanelBlocks = 6;     ///< column blocks: 12 KiB of unpacked codes
constexpr int kPanelTile = 6;       ///< vectors at once: 12 accumulators
constexpr int kPanelVectors = 132;  ///< vectors at once, whose columns stay in the second-level cache

/// [column][row block][8 rows] of n_blocks column blocks.
template <WeightType kType>
HWY_INLINE void unpack_panel(const uint8_t* w, int n_blocks, float* panel) {
    constexpr int kBits = kCodeBits<kType>;
    for (int b = 0; b < n_blocks; ++b, w += kQuad * r8_block_bytes(kType))
        if constexpr (kBits == 0) {
            for (int c = 0; c < 32; ++c)
                for (int r = 0; r < kPanelRows; ++r, panel += 8)
                    store8(exact_weight<kType>(w + size_t(r) * r8_block_bytes(kType), c), panel);
        } else {
            constexpr int kSlots = 32 / kBits;
            for (int v = 0; v < kBits; ++v, panel += kSlots * kPanelRows * 8)
                for (int r = 0; r < kPanelRows; ++r) {
                    const auto* words = reinterpret_cast<const uint32_t*>(w + size_t(r) * r8_block_bytes(kType));
                    unpack_word<kBits>(load8(words + 8 * v), panel + 8 * r, kPanelRows * 8);
                }
        }
}

/// Adds n_blocks column blocks of N vectors to totals [vector][row block][8 rows]; x is the form that fits kType.
template <WeightType kType, int N>
HWY_NOINLINE void panel_tile(const uint8_t* HWY_RESTRICT w, const float* HWY_RESTRICT panel, int n_blocks,
                             const float* HWY_RESTRICT x, const float* HWY_RESTRICT sums, size_t x_stride,
                             float* HWY_RESTRICT totals) {
    for (int b = 0; b < n_blocks; ++b, w += kQuad * r8_block_bytes(kType), ++sums) {
        F8 acc[kPanelRows][N];
        for (int n = 0; n < N; ++n)
            for (int r = 0; r < kPanelRows; ++r)
                acc[r][n] = block_start<kType>(sums[size_t(n) * x_stride]);
#pragma GCC unroll 4
        for (int c = 0; c < 32; ++c, ++x, panel += kPanelRows * 8) {
            F8 value[kPanelRows];
            for (int r = 0; r < kPanelRows; ++r)
                value[r] = load8(panel + 8 * r);
            for (int n = 0; n < N; ++n) {
                const F8 b8 = set8(x[size_t(n) * x_stride]);
                for (int r = 0; r < kPanelRows; ++r)
                    acc[r][n] = MulAdd(value[r], b8, acc[r][n]);
            }
        }
        for (int r = 0; r < kPanelRows; ++r) {
            F8 total[N];
            for (int n = 0; n < N; ++n)
                total[n] = load8(totals + (n * kPanelRows + r) * 8);
            finish_block<kType>(w + size_t(r) * r8_block_bytes(kType), sums, x_stride, acc[r], total);
            for (int n = 0; n < N; ++n)
                store8(total[n], totals + (n * kPanelRows + r) * 8);
        }
    }
}

/// Vectors of the next tile when n are left: no last tile of 1 or 2, which is far slower.
constexpr int panel_tile_size(int n) {
    return n <= kPanelTile ? n : n < 2 * kPanelTile ? (n + 1) / 2 : kPanelTile;
}

template <WeightType kType, int... kSize>
HWY_INLINE void call_panel_tile(int size, std::integer_sequence<int, kSize...>, const uint8_t* w, const float* panel,
                                int n_blocks, const float* x, const float* sums, size_t x_stride, float* totals) {
    ((size == kSize + 1 ? panel_tile<kType, kSize + 1>(w, panel, n_blocks, x, sums, x_stride, totals) : void()), ...);
}

/// Row pairs whose totals are kept, with the columns of all vectors, in the second-level cache: 66 KiB.
constexpr int kPanelPairs = 8;

/// One column chunk of n vectors for n_pairs row pairs from row_block on; totals [pair][kPanelVectors][2][8].
template <WeightType kType>
void panel_columns(const Job& job, int row_block, int n_pairs, int block, int n_blocks, const float* prepared, int n,
                   float* totals) {
    alignas(64) float panel[kPanelBlocks * 32 * kPanelRows * 8];
    const size_t cols = size_t(job.cols), stride = activation_stride(job.cols);
    for (int pair = 0; pair < n_pairs; ++pair, totals += kPanelVectors * kPanelRows * 8) {
        const uint8_t* w = job.weights + r8_block_at(kType, job.cols / 32, row_block + kPanelRows * pair, block);
        unpack_panel<kType>(w, n_blocks, panel);
        for (int i = 0, size; i < n; i += size) {
            size = panel_tile_size(n - i);
            const float* vector = prepared + size_t(i) * stride;
            call_panel_tile<kType>(size, std::make_integer_sequence<int, kPanelTile>(), w, panel, n_blocks,
                                   vector + activation_form<kType> * cols + 32 * block, vector + 3 * cols + block,
                                   stride, totals + i * kPanelRows * 8);
        }
    }
}

/// n_pairs * 2 row blocks from an even one on. Columns are the outer loop, so that those of all vectors stay in the
/// second-level cache while the rows pass by.
template <WeightType kType>
void run_panel(const Job& job, int row_block, int n_pairs, const float* prepared, int n) {
    thread_local std::vector<float> totals;
    totals.resize(size_t(kPanelPairs) * kPanelVectors * kPanelRows * 8);
    const std::pair<int, int> parts[] = {{job.first_block, job.cols / 32}, {0, job.first_block}};
    for (int done = 0; done < n_pairs; done += kPanelPairs)
        for (int first = 0; first < n; first += kPanelVectors) {
            const int pairs = std::min(n_pairs - done, kPanelPairs), vectors = std::min(n - first, kPanelVectors);
            const int rows_from = row_block + kPanelRows * done;
            std::fill(totals.begin(), totals.end(), 0.0f);
            for (const auto& [begin, end] : parts)
                for (int block = begin; block < end; block += kPanelBlocks)
                    panel_columns<kType>(job, rows_from, pairs, block, std::min(end - block, kPanelBlocks),
                                         prepared + size_t(first) * activation_stride(job.cols), vectors,
                                         totals.data());
            for (int i = 0; i < vectors; ++i)
                for (int r = 0; r < pairs * kPanelRows; ++r)
                    store_rows(
                        load8(totals.data() + ((r / kPanelRows * kPanelVectors + i) * kPanelRows + r % kPanelRows) * 8),
                        job, 8 * (rows_from + r), first + i);
        }
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
