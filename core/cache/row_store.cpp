// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/row_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cache/bit_string.h"
#include "core/cache/rotated_reader.h"
#include "kernels/codec/exl3.h"

namespace kvasir {
namespace {

/// Tokens decoded before they are multiplied.
constexpr int kTile = 16;

}  // namespace

RowStore::RowStore(const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      side_(side),
      n_kv_heads_(shape.n_kv_heads),
      n_constants_(constants_per_group(side)),
      rotation_(side, shape.which, shape.head_dim),
      codec_(make_codec(side)),
      row_bytes_((size_t(shape.head_dim) * side.bits + 7) / 8),
      row_groups_(size_t(along_channels() ? shape.head_dim : shape.head_dim / side.group)),
      unit_(along_channels() ? side.group : 1) {
    reserve(shape.max_tokens);
}

void RowStore::reserve(int n_tokens) {
    const int capacity = (n_tokens + unit_ - 1) / unit_ * unit_;
    if (capacity <= capacity_) return;
    const size_t row_constants = row_groups_;
    Buffer<uint8_t> bits(size_t(n_kv_heads_) * capacity * row_bytes_ + 8);
    Buffer<uint16_t> scale(n_constants_ > 0 ? size_t(n_kv_heads_) * (capacity / unit_) * row_constants : 0);
    Buffer<uint16_t> offset(n_constants_ > 1 ? scale.size() : 0);
    for (int h = 0; h < n_kv_heads_ && size_ > 0; ++h) {
        std::copy_n(row(h, 0), size_t(size_) * row_bytes_, bits.data() + size_t(h) * capacity * row_bytes_);
        const size_t from = size_t(h) * (capacity_ / unit_) * row_constants;
        const size_t to = size_t(h) * (capacity / unit_) * row_constants, n = size_t(size_ / unit_) * row_constants;
        if (n_constants_ > 0) std::copy_n(scale_.data() + from, n, scale.data() + to);
        if (n_constants_ > 1) std::copy_n(offset_.data() + from, n, offset.data() + to);
    }
    bits_ = std::move(bits);
    scale_ = std::move(scale);
    offset_ = std::move(offset);
    capacity_ = capacity;
}

uint8_t* RowStore::row(int kv_head, int token) {
    return bits_.data() + (size_t(kv_head) * capacity_ + token) * row_bytes_;
}

size_t RowStore::constant_index(int kv_head, int token, int channel) const {
    const size_t unit = (size_t(kv_head) * capacity_ + token) / unit_;
    return unit * row_groups_ + size_t(along_channels() ? channel : channel / side_.group);
}

/// Codes unit_ tokens given as rows (unit_, head_dim) in the codec's space.
void RowStore::encode(int kv_head, int first_token, const float* rows) {
    const size_t n = size_t(unit_) * head_dim_;
    thread_local std::vector<float> columns;
    thread_local std::vector<uint8_t> codes;
    thread_local std::vector<uint16_t> none;
    const float* groups = rows;
    if (along_channels()) {
        columns.resize(n);
        for (int d = 0; d < head_dim_; ++d)
            for (int i = 0; i < unit_; ++i)
                columns[size_t(d) * unit_ + i] = rows[size_t(i) * head_dim_ + d];
        groups = columns.data();
    }
    codes.resize(n);
    none.resize(row_groups_);
    const size_t c = constant_index(kv_head, first_token, 0);
    codec_->encode(groups, row_groups_, side_.group, codes.data(), n_constants_ > 0 ? scale_.data() + c : none.data(),
                   n_constants_ > 1 ? offset_.data() + c : none.data());
    for (int i = 0; i < unit_; ++i) {
        uint8_t* to = row(kv_head, first_token + i);
        std::fill_n(to, row_bytes_, uint8_t{0});
        for (int d = 0; d < head_dim_; ++d) {
            const size_t at = along_channels() ? size_t(d) * unit_ + i : size_t(d);
            put_bits(to, size_t(d) * side_.bits, codes[at]);
        }
    }
}

Status RowStore::append(const TokenReader& source, int n) {
    if (n % unit_ != 0)
        return Error{ErrorCode::input, "cannot quantize along the channels", fmt::format("{} tokens", n),
                     fmt::format("they do not divide into groups of {}", unit_),
                     fmt::format("Use a multiple of {} tokens.", unit_)};
    reserve(size_ + n);
    std::vector<float> rows(size_t(unit_) * head_dim_);
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < n; t += unit_) {
            read_for_codec(source, side_, rotation_, head_dim_, h, t, t + unit_, rows.data());
            encode(h, size_ + t, rows.data());
        }
    size_ += n;
    return {};
}

/// Groups are independent, so each is coded anew from what it dequantizes to.
Status RowStore::requantize(const TokenReader& source, int n) {
    std::vector<float> rows(size_t(unit_) * head_dim_);
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < size_; t += unit_) {
            read(h, t, t + unit_, rows.data());
            for (int i = 0; i < unit_ && reads_back_plain(side_); ++i)
                rotation_.forward(rows.data() + size_t(i) * head_dim_);
            encode(h, t, rows.data());
        }
    return append(source, n);
}

void RowStore::read_codes(int kv_head, int token, uint8_t* codes) const {
    const uint8_t* from = bits_.data() + (size_t(kv_head) * capacity_ + token) * row_bytes_;
    for (int d = 0; d < head_dim_; ++d)
        codes[d] = get_bits(from, size_t(d) * side_.bits, side_.bits);
}

/// The values of one token's codes.
void RowStore::decode(int kv_head, int token, float* out) const {
    thread_local std::vector<uint8_t> codes;
    codes.resize(size_t(head_dim_));
    read_codes(kv_head, token, codes.data());
    const size_t first = constant_index(kv_head, token, 0);
    const int width = along_channels() ? 1 : side_.group;              // channels that share constants
    GroupDecoder decoder(*codec_, along_channels() ? 8 : side_.bits);  // no table for a single value
    for (size_t g = 0; g < row_groups_; ++g) {
        decoder.set(n_constants_ > 0 ? scale_[first + g] : uint16_t{0},
                    n_constants_ > 1 ? offset_[first + g] : uint16_t{0});
        for (int i = 0; i < width; ++i, ++out)
            *out = decoder(codes[g * size_t(width) + size_t(i)]);
    }
}

void RowStore::read(int kv_head, int begin, int end, float* out) const {
    const bool back = reads_back_plain(side_);
    for (int t = begin; t < end; ++t, out += head_dim_) {
        decode(kv_head, t, out);
        if (!back) continue;
        if (side_.codec == SideSpec::Codec::exl3) {
            for (int d = 0; d < head_dim_; d += 32)
                kernels::exl3_turn_back(out + d);
            continue;
        }
        rotation_.inverse(out);
        for (int d = 0; d < head_dim_; ++d)
            out[d] = kernels::round_to_half(out[d]);
    }
}

/// Calls part(values, first token of the tile, tokens in it) for tiles of decoded tokens.
template <class F>
void RowStore::each_tile(int kv_head, int begin, int end, F&& part) const {
    thread_local std::vector<float> tile;
    tile.resize(size_t(kTile) * head_dim_);
    for (int t = begin; t < end; t += kTile) {
        const int n = std::min(kTile, end - t);
        read(kv_head, t, t + n, tile.data());
        part(tile.data(), t, n);
    }
}

void RowStore::scores(int kv_head, const float* q, int n_queries, int begin, int end, float* out,
                      size_t out_stride) const {
    const size_t width = size_t(kernels::padded_channels(head_dim_));
    each_tile(kv_head, begin, end, [&](const float* values, int t, int n) {
        for (int h = 0; h < n_queries; ++h)
            for (int i = 0; i < n; ++i) {
                float sums[8] = {};  // 8 chains, so that the compiler can use vectors
                const float *x = q + size_t(h) * width, *y = values + size_t(i) * head_dim_;
                int d = 0;
                for (; d + 8 <= head_dim_; d += 8)
                    for (int lane = 0; lane < 8; ++lane)
                        sums[lane] += x[d + lane] * y[d + lane];
                for (; d < head_dim_; ++d)
                    sums[0] += x[d] * y[d];
                out[size_t(h) * out_stride + size_t(t - begin + i)] =
                    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
            }
    });
}

void RowStore::weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                            size_t acc_stride) const {
    each_tile(kv_head, begin, end, [&](const float* values, int t, int n) {
        for (int h = 0; h < n_queries; ++h)
            for (int i = 0; i < n; ++i) {
                const float weight = p[size_t(h) * p_stride + size_t(t - begin + i)];
                const float* y = values + size_t(i) * head_dim_;
                float* to = acc + size_t(h) * acc_stride;
                for (int d = 0; d < head_dim_; ++d)
                    to[d] += weight * y[d];
            }
    });
}

void RowStore::codes_at(int kv_head, int token, KvCache::GroupView& out) const {
    read_codes(kv_head, token, out.codes.data());
    const kernels::AffineForm form = codec_->form().value_or(kernels::AffineForm{});
    for (int d = 0; d < head_dim_; ++d) {
        const size_t c = constant_index(kv_head, token, d);
        const float offset = n_constants_ > 1 ? kernels::half_to_float(offset_[c]) : 1.0f;
        out.scale[d] = n_constants_ > 0 ? kernels::half_to_float(scale_[c]) : 1.0f;
        out.offset[d] = offset * (form.plain + form.times_scale * out.scale[d]);
    }
    const size_t c = constant_index(kv_head, token, head_dim_ / 2);
    out.set_levels(*codec_, side_.bits, n_constants_ > 0 ? scale_[c] : uint16_t{0},
                   n_constants_ > 1 ? offset_[c] : uint16_t{0});
    if (side_.codec == SideSpec::Codec::exl3)
        for (float& level : out.levels)
            level /= kernels::kExl3Norm;
    out.on_a_line = codec_->form() && !reads_back_plain(side_);
}

StoredTensor RowStore::stored() const {
    StoredTensor out;
    out.codes.resize(size_t(n_kv_heads_) * size_ * head_dim_);
    const int n_units = size_ / unit_, n_groups = int(row_groups_);
    out.constants_shape = along_channels() ? std::vector<int>{n_kv_heads_, n_groups, n_units}
                                           : std::vector<int>{n_kv_heads_, n_units, n_groups};
    for (int h = 0; h < n_kv_heads_; ++h) {
        for (int t = 0; t < size_; ++t)
            read_codes(h, t, out.codes.data() + (size_t(h) * size_ + t) * head_dim_);
        for (int i = 0; i < n_units * n_groups; ++i) {
            const int unit = along_channels() ? i % n_units : i / n_groups;
            const int group = along_channels() ? i / n_units : i % n_groups;
            const size_t c = constant_index(h, unit * unit_, 0) + size_t(group);
            if (n_constants_ > 0) out.scale.push_back(scale_[c]);
            if (n_constants_ > 1) out.offset.push_back(offset_[c]);
        }
    }
    return out;
}

ByteLedger RowStore::ledger() const {
    ByteLedger bytes;
    bytes.codes = uint64_t(n_kv_heads_) * size_ * row_bytes_;
    const uint64_t groups = uint64_t(n_kv_heads_) * (size_ / unit_) * row_groups_;
    if (n_constants_ > 0) bytes.scales = 2 * groups;
    if (n_constants_ > 1) bytes.zeros = 2 * groups;
    return bytes;
}

}  // namespace kvasir
