// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/flat_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/cache/bit_string.h"
#include "core/cache/rotated_reader.h"
#include "kernels/codec/half.h"

namespace kvasir {

FlatStore::FlatStore(const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      side_(side),
      n_kv_heads_(shape.n_kv_heads),
      which_(shape.which),
      rotation_(side, shape.which, shape.head_dim),
      codec_(make_codec(side)) {
    capacity_ = shape.max_tokens;
    bits_ = Buffer<uint8_t>((n_elements(capacity_) * side_.bits + 7) / 8 + 1);
    scale_ = Buffer<uint16_t>(n_elements(capacity_) / side_.group + 1);
    offset_ = Buffer<uint16_t>(scale_.size());
}

/// Group and place of one element of [n_kv_heads, n_tokens, head_dim]; groups are numbered as the original stores them.
FlatStore::Member FlatStore::member_of(size_t element, int n_tokens) const {
    const size_t group = size_t(side_.group);
    if (side_.axis == SideSpec::Axis::rows) {
        const size_t row = element / head_dim_, channel = element % head_dim_;
        const size_t blocks = size_t(n_kv_heads_) * n_tokens / group;
        return {channel * blocks + row / group, row % group};
    }
    if (side_.axis == SideSpec::Axis::strided) {
        const size_t stride = n_elements(n_tokens) / group;
        return {element % stride, element / stride};
    }
    return {element / group, element % group};
}

uint8_t FlatStore::code(size_t element) const {
    return get_bits(bits_.data(), element * side_.bits, side_.bits);
}

Status FlatStore::check_tokens(int n_tokens) const {
    const bool rows = side_.axis == SideSpec::Axis::rows;
    const size_t unit = rows ? size_t(n_kv_heads_) : size_t(n_kv_heads_) * head_dim_;  // what one token adds
    if (unit * n_tokens % side_.group == 0) return {};
    const size_t step = side_.group / std::gcd(unit, size_t(side_.group));
    return Error{
        ErrorCode::input, "cannot quantize the cache", fmt::format("{} tokens", n_tokens),
        fmt::format("{} KV heads x {} tokens{} do not divide into groups of {}{}", n_kv_heads_, n_tokens,
                    rows ? "" : fmt::format(" x {} channels", head_dim_), side_.group,
                    rows ? " along each channel" : ""),
        fmt::format("Use prompt and residual lengths that are multiples of {}, or another group or axis.", step)};
}

Status FlatStore::requantize(const TokenReader& source, int n) {
    const int total = size_ + n;
    if (Status ok = check_tokens(total); !ok) return ok;
    if (total > capacity_) {  // a longer cache than announced: what is stored is rewritten anyway, but read first
        FlatStore larger(side_, {n_kv_heads_, head_dim_, total, which_});
        std::copy_n(bits_.data(), bits_.size(), larger.bits_.data());
        std::copy_n(scale_.data(), scale_.size(), larger.scale_.data());
        std::copy_n(offset_.data(), offset_.size(), larger.offset_.data());
        larger.size_ = size_;
        *this = std::move(larger);
    }
    const size_t n_all = n_elements(total), n_groups = n_all / side_.group;
    std::vector<float> rows(size_t(total) * head_dim_), values(n_all);
    for (int h = 0; h < n_kv_heads_; ++h) {
        read(h, 0, size_, rows.data());
        read_for_codec(source, side_, rotation_, head_dim_, h, 0, n, rows.data() + size_t(size_) * head_dim_);
        const size_t first = size_t(h) * total * head_dim_;
        for (size_t i = 0; i < rows.size(); ++i) {
            const Member m = member_of(first + i, total);
            values[m.group * side_.group + m.index] = rows[i];
        }
    }
    std::vector<uint8_t> codes(n_all);
    codec_->encode(values.data(), n_groups, side_.group, codes.data(), scale_.data(), offset_.data());
    std::fill_n(bits_.data(), (n_all * side_.bits + 7) / 8, uint8_t{0});
    for (size_t e = 0; e < n_all; ++e) {
        const Member m = member_of(e, total);
        put_bits(bits_.data(), e * side_.bits, codes[m.group * side_.group + m.index]);
    }
    size_ = total;
    return {};
}

void FlatStore::read(int kv_head, int begin, int end, float* out) const {
    const size_t first = (size_t(kv_head) * size_ + begin) * head_dim_;
    const size_t n = size_t(end - begin) * head_dim_;
    for (size_t i = 0; i < n; ++i) {
        const size_t g = member_of(first + i, size_).group;
        out[i] = codec_->value(code(first + i), scale_[g], offset_[g]);
    }
}

void FlatStore::codes_at(int kv_head, int token, KvCache::GroupView& out) const {
    const kernels::AffineForm form = codec_->form().value_or(kernels::AffineForm{});
    for (int d = 0; d < head_dim_; ++d) {
        const size_t e = (size_t(kv_head) * size_ + token) * head_dim_ + d, g = member_of(e, size_).group;
        out.codes[d] = code(e);
        out.scale[d] = kernels::half_to_float(scale_[g]);
        out.offset[d] = kernels::half_to_float(offset_[g]) * (form.plain + form.times_scale * out.scale[d]);
    }
    const size_t middle = member_of((size_t(kv_head) * size_ + token) * head_dim_ + head_dim_ / 2, size_).group;
    out.set_levels(*codec_, side_.bits, scale_[middle], offset_[middle]);
}

StoredTensor FlatStore::stored() const {
    StoredTensor out;
    const size_t n = n_elements(size_);
    for (size_t e = 0; e < n; ++e)
        out.codes.push_back(code(e));
    out.scale.assign(scale_.data(), scale_.data() + n / side_.group);
    out.offset.assign(offset_.data(), offset_.data() + n / side_.group);
    out.constants_shape = {int(n / side_.group)};
    return out;
}

ByteLedger FlatStore::ledger() const {
    ByteLedger bytes;
    bytes.codes = (n_elements(size_) * side_.bits + 7) / 8;
    bytes.scales = bytes.zeros = n_elements(size_) / side_.group * 2;
    return bytes;
}

}  // namespace kvasir
