// SPDX-License-Identifier: GPL-3.0-or-later
// Rows as the file stores them, and their rearrangement into layout R8 (kernels/cpu/r8_layout.h).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/codec/half.h"
#include "kernels/cpu/huge_arena.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/r8_layout.h"

namespace kvasir::kernels {

namespace {

constexpr int kBlock = kColumns;

// A block of the file: fp16 scale, fp16 minimum (q4_1 only), then the codes.
struct FileBlock {
    size_t bytes, codes_at;
};

FileBlock file_block(WeightType type) {
    switch (type) {
        case WeightType::f32:
            return {4 * kBlock, 0};
        case WeightType::f16:
        case WeightType::bf16:
            return {2 * kBlock, 0};
        case WeightType::q8_0:
            return {34, 2};
        case WeightType::q4_0:
            return {18, 2};
        case WeightType::q4_1:
            return {20, 4};
    }
    std::abort();
}

uint16_t half_at(const uint8_t* p) {
    uint16_t h;
    std::memcpy(&h, p, sizeof h);
    return h;
}

// Column c of a 4-bit block: low nibbles are columns 0-15, high nibbles 16-31.
uint32_t nibble(const uint8_t* codes, int c) {
    return c < 16 ? codes[c] & 15u : uint32_t(codes[c - 16] >> 4);
}

bool has_blocks(WeightType type) {
    return type == WeightType::q8_0 || type == WeightType::q4_0 || type == WeightType::q4_1;
}

void require_whole_blocks(WeightType type, int cols) {
    if (cols > 0 && (cols % kBlock == 0 || !has_blocks(type))) return;
    std::fprintf(stderr, "kvasir: a packed matrix of this type needs a multiple of 32 columns, not %d\n", cols);
    std::abort();
}

}  // namespace

size_t row_bytes(WeightType type, int cols) {
    return size_t(cols) * file_block(type).bytes / kBlock;
}

void dequantize_row(WeightType type, const void* row, int cols, float* out) {
    const auto* bytes = static_cast<const uint8_t*>(row);
    if (type == WeightType::f32) {
        std::memcpy(out, bytes, size_t(cols) * sizeof(float));
        return;
    }
    if (type == WeightType::f16) {
        for (int c = 0; c < cols; ++c)
            out[c] = half_to_float(half_at(bytes + 2 * c));
        return;
    }
    if (type == WeightType::bf16) {
        for (int c = 0; c < cols; ++c)
            out[c] = float_from_bits(uint32_t(half_at(bytes + 2 * c)) << 16);
        return;
    }
    const FileBlock file = file_block(type);
    for (int b = 0; b < cols / kBlock; ++b) {
        const uint8_t* block = bytes + size_t(b) * file.bytes;
        const uint8_t* codes = block + file.codes_at;
        const float d = half_to_float(half_at(block));
        const float m = type == WeightType::q4_1 ? half_to_float(half_at(block + 2)) : 0.0f;
        float* y = out + b * kBlock;
        for (int c = 0; c < kBlock; ++c) {
            if (type == WeightType::q8_0)
                y[c] = float(int8_t(codes[c])) * d;
            else if (type == WeightType::q4_0)
                y[c] = (float(nibble(codes, c)) - 8.0f) * d;
            else
                y[c] = float(nibble(codes, c)) * d + m;
        }
    }
}

PackedMatrix::PackedMatrix(WeightType type, int rows, int cols) : type_(type), rows_(rows), cols_(cols) {
    require_whole_blocks(type, cols);
    bytes_ = r8_block_at(type, padded_columns(cols) / kBlock, (rows + 8 * kQuad - 1) / (8 * kQuad) * kQuad, 0);
    data_.reset(weight_arena().allocate(bytes_));
}

void PackedMatrix::Free::operator()(uint8_t* p) const {
    HugeArena::release(p);
}

void PackedMatrix::set_row(int r, const void* file_row) {
    const FileBlock file = file_block(type_);
    const int lane = r % 8;
    const int n_blocks = padded_columns(cols_) / kBlock;
    for (int b = 0; b < n_blocks; ++b) {
        const uint8_t* from = static_cast<const uint8_t*>(file_row) + size_t(b) * file.bytes;
        uint8_t* to = data_.get() + r8_block_at(type_, n_blocks, r / 8, b);
        if (!has_blocks(type_)) {
            const size_t size = file.bytes / kBlock, n = size_t(std::min(kBlock, cols_ - b * kBlock));
            for (size_t c = 0; c < n; ++c)
                std::memcpy(to + (8 * c + size_t(lane)) * size, from + c * size, size);
            continue;
        }
        const uint8_t* codes = from + file.codes_at;
        const int bits = type_ == WeightType::q8_0 ? 8 : 4;
        const int slots = 32 / bits, n_words = kBlock / slots;
        for (int v = 0; v < n_words; ++v) {
            uint32_t word = 0;
            for (int s = 0; s < slots; ++s) {
                const int c = slots * v + s;
                const uint32_t code = bits == 8 ? codes[c] ^ 0x80u : nibble(codes, c);  // int8 + 128
                word |= code << (bits * s);
            }
            std::memcpy(to + (8 * v + lane) * 4, &word, 4);
        }
        uint8_t* constants = to + size_t(n_words) * 32;
        std::memcpy(constants + 2 * lane, from, 2);
        if (type_ == WeightType::q4_1) std::memcpy(constants + 16 + 2 * lane, from + 2, 2);
    }
}

}  // namespace kvasir::kernels
