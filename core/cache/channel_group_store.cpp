// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/channel_group_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cache/block_range.h"
#include "core/cache/rotated_reader.h"
#include "core/cache/word_packing.h"
#include "kernels/codec/half.h"

namespace kvasir {

ChannelGroupStore::ChannelGroupStore(const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      side_(side),
      n_kv_heads_(shape.n_kv_heads),
      rotation_(side, shape.which, shape.head_dim),
      codec_(make_codec(side)),
      rows_(size_t(side.group) * shape.head_dim),
      columns_(rows_.size()),
      codes_(rows_.size()),
      token_codes_(size_t(shape.head_dim)) {
    reserve(shape.max_tokens);
}

void ChannelGroupStore::reserve(int n_tokens) {
    const int capacity = (n_tokens + side_.group - 1) / side_.group * side_.group;
    if (capacity <= capacity_) return;
    const size_t per_group = size_t(head_dim_), per_token_words = block_words() / kBlock;
    Buffer<uint32_t> words(size_t(n_kv_heads_) * capacity * per_token_words);
    Buffer<uint16_t> scale(size_t(n_kv_heads_) * (capacity / side_.group) * per_group), offset(scale.size());
    for (int h = 0; h < n_kv_heads_ && size_ > 0; ++h) {
        std::copy_n(words_.data() + size_t(h) * capacity_ * per_token_words, size_ * per_token_words,
                    words.data() + size_t(h) * capacity * per_token_words);
        const size_t from = size_t(h) * (capacity_ / side_.group) * per_group;
        const size_t to = size_t(h) * (capacity / side_.group) * per_group;
        std::copy_n(scale_.data() + from, size_ / side_.group * per_group, scale.data() + to);
        std::copy_n(offset_.data() + from, size_ / side_.group * per_group, offset.data() + to);
    }
    words_ = std::move(words);
    scale_ = std::move(scale);
    offset_ = std::move(offset);
    capacity_ = capacity;
}

const uint16_t* ChannelGroupStore::constants(const Buffer<uint16_t>& all, int kv_head, int token) const {
    return all.data() + (size_t(kv_head) * capacity_ + token) / side_.group * head_dim_;
}

Status ChannelGroupStore::append(const TokenReader& source, int n) {
    const int group = side_.group;
    if (n % group != 0)
        return Error{ErrorCode::input, "cannot quantize along the channels", fmt::format("{} tokens", n),
                     fmt::format("they do not divide into groups of {}", group),
                     fmt::format("Use a multiple of {} tokens.", group)};
    reserve(size_ + n);
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < n; t += group) {
            read_for_codec(source, side_, rotation_, head_dim_, h, t, t + group, rows_.data());
            for (int d = 0; d < head_dim_; ++d)
                for (int i = 0; i < group; ++i)
                    columns_[size_t(d) * group + i] = rows_[size_t(i) * head_dim_ + d];
            const size_t c = (size_t(h) * capacity_ + size_ + t) / group * head_dim_;
            codec_->encode(columns_.data(), size_t(head_dim_), group, codes_.data(), scale_.data() + c,
                           offset_.data() + c);
            write_group(h, size_ + t);
        }
    size_ += n;
    return {};
}

void ChannelGroupStore::write_group(int kv_head, int first_token) {
    const int n_words = head_dim_ * side_.bits / 32;
    for (int i = 0; i < side_.group; ++i) {
        const int token = first_token + i;
        for (int d = 0; d < head_dim_; ++d)
            token_codes_[size_t(d)] = codes_[size_t(d) * side_.group + i];
        uint32_t* lane =
            words_.data() + (size_t(kv_head) * capacity_ + token) / kBlock * block_words() + token % kBlock;
        pack_words(token_codes_.data(), n_words, side_.bits, lane, kBlock);
    }
}

void ChannelGroupStore::read_codes(int kv_head, int token, uint8_t* codes) const {
    const uint32_t* lane =
        words_.data() + (size_t(kv_head) * capacity_ + token) / kBlock * block_words() + token % kBlock;
    unpack_words(lane, kBlock, head_dim_ * side_.bits / 32, side_.bits, codes);
}

void ChannelGroupStore::read(int kv_head, int begin, int end, float* out) const {
    thread_local std::vector<uint8_t> codes;
    codes.resize(size_t(head_dim_));
    for (int t = begin; t < end; ++t, out += head_dim_) {
        read_codes(kv_head, t, codes.data());
        const uint16_t *scale = constants(scale_, kv_head, t), *offset = constants(offset_, kv_head, t);
        for (int d = 0; d < head_dim_; ++d)
            out[d] = codec_->value(codes[d], scale[d], offset[d]);
    }
}

kernels::ChannelGroups ChannelGroupStore::view(int kv_head) const {
    return {side_.bits,
            head_dim_,
            side_.group,
            *codec_->form(),
            words_.data() + size_t(kv_head) * capacity_ / kBlock * block_words(),
            constants(scale_, kv_head, 0),
            constants(offset_, kv_head, 0)};
}

void ChannelGroupStore::scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                               size_t out_stride) const {
    const auto k = view(kv_head);
    scores_of_blocks(n_queries, begin, end, out, out_stride, [&](int b0, int b1, float* to, size_t stride) {
        kernels::scores(k, prepared, n_queries, b0, b1, to, stride);
    });
}

void ChannelGroupStore::weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                                     float* acc, size_t acc_stride) const {
    const auto v = view(kv_head);
    weights_of_blocks(n_queries, begin, end, p, p_stride, [&](int b0, int b1, const float* weights, size_t stride) {
        kernels::weighted_sum(v, weights, stride, n_queries, b0, b1, acc, acc_stride);
    });
}

void ChannelGroupStore::fetch(int kv_head, int token) const {
    kernels::fetch_values(view(kv_head), token / kBlock);
}

void ChannelGroupStore::codes_at(int kv_head, int token, KvCache::GroupView& out) const {
    read_codes(kv_head, token, out.codes.data());
    const uint16_t *scale = constants(scale_, kv_head, token), *offset = constants(offset_, kv_head, token);
    const kernels::AffineForm form = *codec_->form();
    for (int d = 0; d < head_dim_; ++d) {
        out.scale[d] = kernels::half_to_float(scale[d]);
        out.offset[d] = kernels::half_to_float(offset[d]) * (form.plain + form.times_scale * out.scale[d]);
    }
    out.set_levels(*codec_, side_.bits, scale[head_dim_ / 2], offset[head_dim_ / 2]);
}

StoredTensor ChannelGroupStore::stored() const {
    StoredTensor out;
    const int n_groups = size_ / side_.group;
    out.codes.resize(size_t(n_kv_heads_) * size_ * head_dim_);
    out.constants_shape = {n_kv_heads_, head_dim_, n_groups};
    for (int h = 0; h < n_kv_heads_; ++h) {
        for (int t = 0; t < size_; ++t)
            read_codes(h, t, out.codes.data() + (size_t(h) * size_ + t) * head_dim_);
        for (int d = 0; d < head_dim_; ++d)
            for (int g = 0; g < n_groups; ++g) {
                out.scale.push_back(constants(scale_, h, g * side_.group)[d]);
                out.offset.push_back(constants(offset_, h, g * side_.group)[d]);
            }
    }
    return out;
}

ByteLedger ChannelGroupStore::ledger() const {
    ByteLedger bytes;
    bytes.codes = uint64_t(n_kv_heads_) * size_ * head_dim_ * side_.bits / 8;
    bytes.scales = bytes.zeros = uint64_t(n_kv_heads_) * (size_ / side_.group) * head_dim_ * 2;
    return bytes;
}

}  // namespace kvasir
