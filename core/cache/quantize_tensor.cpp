// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/quantize_tensor.h"

#include <fmt/format.h>

#include "kernels/codec/half.h"

namespace kvasir {
namespace {

using Axis = SideSpec::Axis;

class TensorReader final : public TokenReader {
 public:
    TensorReader(const uint16_t* x, int n_tokens, int head_dim) : x_(x), n_tokens_(n_tokens), head_dim_(head_dim) {}
    int size() const override { return n_tokens_; }
    void read(int kv_head, int begin, int end, float* out) const override {
        const uint16_t* from = x_ + (size_t(kv_head) * n_tokens_ + begin) * head_dim_;
        for (size_t i = 0; i < size_t(end - begin) * head_dim_; ++i)
            out[i] = kernels::half_to_float(from[i]);
    }

 private:
    const uint16_t* x_;
    int n_tokens_, head_dim_;
};

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
        bytes[i * bits / 8] |= uint8_t(codes[i] << (i * bits % 8));
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

}  // namespace

Result<std::vector<uint8_t>> pack_as_original(const SideSpec& side, const std::vector<uint8_t>& codes, int n_kv_heads,
                                              int n_tokens, int head_dim) {
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
    if (side.form == SideSpec::Form::shift) return pack_rows(codes, n_groups, group, {1, parts, false, side.bits});
    return pack_neighbours(codes, side.bits);
}

Result<QuantizedTensor> quantize_tensor(const CacheSpec& spec, Side side, const uint16_t* x, int n_kv_heads,
                                        int n_tokens, int head_dim) {
    const SideSpec& scheme = spec.side(side);
    if (scheme.exact())
        return Error{ErrorCode::usage, "cannot quantize the tensor", fmt::format("'{}'", spec.text),
                     fmt::format("it stores {} exactly", side == Side::k ? "keys" : "values"),
                     "Choose another preset."};
    if (Status ok = check_geometry(spec, n_kv_heads, head_dim); !ok) return ok.error();
    const auto store = make_store(scheme, {n_kv_heads, head_dim, n_tokens});
    if (Status ok = store->append(TensorReader(x, n_tokens, head_dim), n_tokens); !ok) return ok.error();

    QuantizedTensor out;
    out.stored = store->stored();
    auto packed = pack_as_original(scheme, out.stored.codes, n_kv_heads, n_tokens, head_dim);
    if (!packed) return packed.error();
    out.packed = std::move(*packed);
    const size_t per_head = size_t(n_tokens) * head_dim;
    std::vector<float> values(per_head);
    for (int h = 0; h < n_kv_heads; ++h) {
        store->read(h, 0, n_tokens, values.data());
        for (const float value : values)
            out.dequantized.push_back(kernels::float_to_half(value));
    }
    return out;
}

}  // namespace kvasir
