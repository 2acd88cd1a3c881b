// SPDX-License-Identifier: GPL-3.0-or-later
// Layout R8 and the prepared activations: private to the matmul sources.
//
// R8: row blocks of 8 rows, four of them (a quad) stored together so that a pass over the columns reads one stream:
//   [quad][block of 32 columns][row block of the quad][block], padded with zeros to whole quads and blocks. A block is
//   f32         float    [32 columns][8 rows]
//   f16, bf16   uint16   [32 columns][8 rows]
//   q8_0        uint32   w[8][8 rows], byte s of word v = column 4v + s, stored + 128; fp16 d[8 rows]
//   q4_0        uint32   w[4][8 rows], nibble s of word v = column 8v + s; fp16 d[8 rows]
//   q4_1        as q4_0, then fp16 m[8 rows]
// A register holds one word of 8 rows, so a dot product needs no horizontal sum.
//
// A prepared activation vector, contiguous: x (cols), x * 2^-4(c % 4) for 4-bit words, x * 2^-8(c % 2) for 8-bit words,
// sums of 32 columns; cols here are padded ones, the vector's own columns and then zeros.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "kernels/cpu/matmul.h"

namespace kvasir::kernels {

/// Columns of a block.
constexpr int kColumns = 32;

/// Columns as they are stored: whole blocks, those beyond the matrix zero.
constexpr int padded_columns(int cols) {
    return (cols + kColumns - 1) / kColumns * kColumns;
}

/// Row blocks stored together.
constexpr int kQuad = 4;

constexpr size_t r8_block_bytes(WeightType type) {
    switch (type) {
        case WeightType::f32:
            return 1024;
        case WeightType::f16:
        case WeightType::bf16:
            return 512;
        case WeightType::q8_0:
            return 272;
        case WeightType::q4_0:
            return 144;
        case WeightType::q4_1:
            return 160;
    }
    std::abort();
}

/// Where the block of 32 columns `column_block` of row block `row_block` starts, in bytes.
constexpr size_t r8_block_at(WeightType type, int n_column_blocks, int row_block, int column_block) {
    const size_t quad = size_t(row_block / kQuad) * size_t(n_column_blocks) + size_t(column_block);
    return (quad * kQuad + size_t(row_block % kQuad)) * r8_block_bytes(type);
}

/// Floats of one prepared vector.
inline size_t activation_stride(int cols) {
    const size_t stored = size_t(padded_columns(cols));
    return 3 * stored + stored / kColumns;
}

}  // namespace kvasir::kernels
