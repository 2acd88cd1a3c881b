// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/original_packing.h"

#include <fmt/format.h>

#include "core/cache/bit_string.h"

namespace kvasir {
namespace {

using Axis = SideSpec::Axis;

/// Codes of a 2-D array joined over its rows: part i of unit p is row p + i*step, at bit shift_of(i).
struct RowPacking {
    size_t bytes_per_unit, parts;
    bool high_first;
    int bits;
    int shift_of(size_t i) const { return bits * int(high_first ? parts - 1 - i : i); }
};

std::vector<uint8_t> pack_rows(const std::vector<uint8_t>& codes, size_t n_rows, size_t n_columns, RowPacking packing) {
    const size_t step = (n_rows + packing.parts - 1) / packing.parts;
    std::vector<uint8_t> bytes(step * n_columns * packing.bytes_per_unit);
    for (size_t row = 0; row < n_rows; ++row)
        for (size_t column = 0; column < n_columns; ++column) {
            const uint32_t bits = uint32_t(codes[row * n_columns + column]) << packing.shift_of(row / step);
            uint8_t* unit = bytes.data() + (row % step * n_columns + column) * packing.bytes_per_unit;
            for (size_t b = 0; b < packing.bytes_per_unit; ++b)
                unit[b] |= uint8_t(bits >> (8 * b));
        }
    return bytes;
}

/// Neighbours in one bit string, first one in the lowest bits: little-endian words of any width.
std::vector<uint8_t> pack_neighbours(const std::vector<uint8_t>& codes, int bits) {
    std::vector<uint8_t> bytes((codes.size() * bits + 7) / 8);
    for (size_t i = 0; i < codes.size(); ++i)
        put_bits(bytes.data(), i * size_t(bits), codes[i]);
    return bytes;
}

/// Quanto axis -1: element (row a*group + i, channel d) of the tensor is element (i, d*blocks + a) of the array.
std::vector<uint8_t> grouped_rows(const std::vector<uint8_t>& codes, int group, int head_dim) {
    const size_t n_rows = codes.size() / head_dim, blocks = n_rows / group;
    std::vector<uint8_t> out(codes.size());
    for (size_t row = 0; row < n_rows; ++row)
        for (size_t d = 0; d < size_t(head_dim); ++d)
            out[row % group * (blocks * head_dim) + d * blocks + row / group] = codes[row * head_dim + d];
    return out;
}

std::vector<uint8_t> channels_first(const std::vector<uint8_t>& codes, int n_kv_heads, int n_tokens, int head_dim) {
    std::vector<uint8_t> out(codes.size());
    for (int h = 0; h < n_kv_heads; ++h)
        for (int t = 0; t < n_tokens; ++t)
            for (int d = 0; d < head_dim; ++d)
                out[(size_t(h) * head_dim + d) * n_tokens + t] = codes[(size_t(h) * n_tokens + t) * head_dim + d];
    return out;
}

/// Little-endian 16 bits.
void put_half(std::vector<uint8_t>& bytes, uint16_t half) {
    bytes.push_back(uint8_t(half & 255));
    bytes.push_back(uint8_t(half >> 8));
}

/// fp16 d, [fp16 m], [fifth bits: uint32], then bytes of elements j and j + 16 (or one signed byte each for q8_0).
std::vector<uint8_t> ggml_blocks(const SideSpec& side, const StoredTensor& stored) {
    std::vector<uint8_t> bytes;
    const size_t group = size_t(side.group), half = group / 2;
    for (size_t b = 0; b < stored.scale.size(); ++b) {
        const uint8_t* codes = stored.codes.data() + b * group;
        put_half(bytes, stored.scale[b]);
        if (!stored.offset.empty()) put_half(bytes, stored.offset[b]);
        if (side.bits == 8) {
            for (size_t j = 0; j < group; ++j)
                bytes.push_back(uint8_t(codes[j] - 128));
            continue;
        }
        for (size_t byte = 0; byte < group / 8 && side.bits == 5; ++byte) {
            unsigned high = 0;
            for (size_t j = 0; j < 8; ++j)
                high |= unsigned(codes[byte * 8 + j] >> 4) << j;
            bytes.push_back(uint8_t(high));
        }
        for (size_t j = 0; j < half; ++j)
            bytes.push_back(uint8_t((codes[j] & 15) | (codes[j + half] & 15) << 4));
    }
    return bytes;
}

/// Planes of 8, 4, 2, 1 bits (those that make up `bits`, the highest first), each of one group's neighbours.
std::vector<uint8_t> bit_planes(const SideSpec& side, const std::vector<uint8_t>& codes) {
    std::vector<uint8_t> bytes;
    const size_t group = size_t(side.group);
    for (size_t first = 0; first < codes.size(); first += group) {
        int left = side.bits;
        for (const int width : {8, 4, 2, 1}) {
            if ((side.bits & width) == 0) continue;
            left -= width;
            std::vector<uint8_t> plane;
            for (size_t i = 0; i < group; ++i)
                plane.push_back(uint8_t(codes[first + i] >> left & ((1 << width) - 1)));
            const std::vector<uint8_t> packed = pack_neighbours(plane, width);
            bytes.insert(bytes.end(), packed.begin(), packed.end());
        }
    }
    return bytes;
}

}  // namespace

Result<std::vector<uint8_t>> pack_as_original(const SideSpec& side, const StoredTensor& stored, int n_kv_heads,
                                              int n_tokens, int head_dim) {
    const std::vector<uint8_t>& codes = stored.codes;
    if (side.codec == SideSpec::Codec::ggml) return ggml_blocks(side, stored);
    if (side.codec == SideSpec::Codec::exl3) return bit_planes(side, codes);
    if (side.codec != SideSpec::Codec::hqq && side.codec != SideSpec::Codec::affine)
        return pack_neighbours(codes, side.bits);
    const size_t group = size_t(side.group), n_groups = codes.size() / group;
    const size_t parts = size_t(8 / side.bits);
    if (side.codec == SideSpec::Codec::hqq) {
        const bool strided = side.axis == Axis::strided;
        const size_t n_rows = strided ? group : n_groups, n_columns = strided ? n_groups : group;
        if (side.bits == 3) return pack_rows(codes, n_rows, n_columns, {4, 10, true, 3});
        if (n_rows % parts != 0)
            return Error{ErrorCode::input, "cannot pack the codes as hqq does", fmt::format("{} tokens", n_tokens),
                         fmt::format("hqq packs {} rows in {} equal parts", n_rows, parts),
                         "Use a number of tokens that is a multiple of 8."};
        return pack_rows(codes, n_rows, n_columns, {1, parts, true, side.bits});
    }
    if (side.axis == Axis::channel)
        return pack_neighbours(channels_first(codes, n_kv_heads, n_tokens, head_dim), side.bits);
    if (side.axis == Axis::rows)
        return pack_rows(grouped_rows(codes, side.group, head_dim), group, n_groups, {1, parts, false, side.bits});
    const bool quanto = side.form == SideSpec::Form::shift || side.form == SideSpec::Form::integer;
    if (quanto && 8 % side.bits == 0) return pack_rows(codes, n_groups, group, {1, parts, false, side.bits});
    return pack_neighbours(codes, side.bits);
}

}  // namespace kvasir
