// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gguf_finite.h"

#include <algorithm>
#include <vector>

#include "core/model/gguf_parse.h"

namespace kvasir {

namespace {

// A float is NaN or infinite when all its exponent bits are set. Counting instead of leaving early lets the compiler
// use vector instructions: a whole model is checked at the speed of memory.
template <class Bits>
uint64_t count_set(const uint8_t* data, uint64_t n, uint64_t stride, Bits exponent) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < n; ++i)
        bad += (read_le<Bits>(data + i * stride) & exponent) == exponent;
    return bad;
}

constexpr uint16_t kHalf = 0x7C00, kBrain = 0x7F80;
constexpr uint32_t kSingle = 0x7F800000;

}  // namespace

bool is_readable_type(uint32_t type) {
    switch (type) {
        case ggml_type::f32:
        case ggml_type::f16:
        case ggml_type::bf16:
        case ggml_type::q8_0:
        case ggml_type::q4_0:
        case ggml_type::q4_1:
            return true;
        default:
            return false;
    }
}

bool all_finite(uint32_t type, const uint8_t* data, uint64_t n_bytes) {
    switch (type) {
        case ggml_type::f32:
            return count_set(data, n_bytes / 4, 4, kSingle) == 0;
        case ggml_type::f16:
            return count_set(data, n_bytes / 2, 2, kHalf) == 0;
        case ggml_type::bf16:
            return count_set(data, n_bytes / 2, 2, kBrain) == 0;
        default:
            break;
    }
    // Block types: the scale d comes first; Q4_1 has the minimum m behind it.
    const uint64_t stride = find_ggml_type(type)->bytes, blocks = n_bytes / stride;
    if (count_set(data, blocks, stride, kHalf) != 0) return false;
    return type != ggml_type::q4_1 || count_set(data + 2, blocks, stride, kHalf) == 0;
}

Result<bool> all_finite(const GgufFile& file, const GgufTensor& tensor) {
    constexpr uint64_t kBlocks = 1 << 16;
    const uint64_t piece = kBlocks * find_ggml_type(tensor.type)->bytes;
    std::vector<uint8_t> data(size_t(std::min(piece, tensor.n_bytes)));
    for (uint64_t at = 0; at < tensor.n_bytes; at += piece) {
        const uint64_t n = std::min(piece, tensor.n_bytes - at);
        if (Status read = file.read(tensor, at, size_t(n), data.data()); !read) return read.error();
        if (!all_finite(tensor.type, data.data(), n)) return false;
    }
    return true;
}

}  // namespace kvasir
