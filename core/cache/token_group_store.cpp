// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/token_group_store.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/cache/block_range.h"
#include "core/cache/rotated_reader.h"
#include "core/cache/word_packing.h"
#include "kernels/codec/half.h"

namespace kvasir {

TokenGroupStore::TokenGroupStore(const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      side_(side),
      n_kv_heads_(shape.n_kv_heads),
      n_groups_(shape.head_dim / side.group),
      has_offset_(constants_per_group(side) == 2),
      rotation_(side, shape.which, shape.head_dim),
      codec_(make_codec(side)),
      values_(size_t(shape.head_dim)),
      codes_(size_t(shape.head_dim)),
      constants_(size_t(2 * n_groups_)) {
    reserve(shape.max_tokens);
}

void TokenGroupStore::reserve(int n_tokens) {
    const int blocks = blocks_of(n_tokens);
    if (blocks <= capacity_blocks_) return;
    Buffer<uint32_t> words(size_t(n_kv_heads_) * blocks * block_words());
    Buffer<uint16_t> scale(size_t(n_kv_heads_) * blocks * block_constants()), offset(has_offset_ ? scale.size() : 0);
    for (int h = 0; h < n_kv_heads_; ++h) {
        const auto move = [&](const auto& from, auto& to, size_t per_block) {
            std::copy_n(from.data() + size_t(h) * capacity_blocks_ * per_block, blocks_of(size_) * per_block,
                        to.data() + size_t(h) * blocks * per_block);
        };
        if (size_ == 0) break;
        move(words_, words, block_words());
        move(scale_, scale, block_constants());
        if (has_offset_) move(offset_, offset, block_constants());
    }
    words_ = std::move(words);
    scale_ = std::move(scale);
    offset_ = std::move(offset);
    capacity_blocks_ = blocks;
}

void TokenGroupStore::clear() {
    // Kernels count on zero constants in the unused lanes of a last block.
    for (int h = 0; h < n_kv_heads_; ++h) {
        const size_t first = size_t(h) * capacity_blocks_ * block_constants();
        const size_t n = blocks_of(size_) * block_constants();
        std::fill_n(scale_.data() + first, n, uint16_t{0});
        if (has_offset_) std::fill_n(offset_.data() + first, n, uint16_t{0});
    }
    size_ = 0;
    not_idempotent_.clear();
}

size_t TokenGroupStore::constant_index(int kv_head, int token, int group) const {
    return ((size_t(kv_head) * capacity_blocks_ + token / kBlock) * n_groups_ + group) * kBlock + token % kBlock;
}

void TokenGroupStore::write_token(int kv_head, int token, const uint8_t* codes, const uint16_t* scale,
                                  const uint16_t* offset) {
    const int group_words = side_.group * side_.bits / 32;
    uint32_t* lane =
        words_.data() + (size_t(kv_head) * capacity_blocks_ + token / kBlock) * block_words() + token % kBlock;
    for (int g = 0; g < n_groups_; ++g) {
        pack_words(codes + g * side_.group, group_words, side_.bits, lane + size_t(g * group_words) * kBlock, kBlock);
        scale_[constant_index(kv_head, token, g)] = scale[g];
        if (has_offset_) offset_[constant_index(kv_head, token, g)] = offset[g];
    }
}

void TokenGroupStore::read_codes(int kv_head, int token, uint8_t* codes) const {
    const int group_words = side_.group * side_.bits / 32;
    const uint32_t* lane =
        words_.data() + (size_t(kv_head) * capacity_blocks_ + token / kBlock) * block_words() + token % kBlock;
    for (int g = 0; g < n_groups_; ++g)
        unpack_words(lane + size_t(g * group_words) * kBlock, kBlock, group_words, side_.bits, codes + g * side_.group);
}

Status TokenGroupStore::append(const TokenReader& source, int n) {
    reserve(size_ + n);
    if (codec_->needs_whole_tensor()) {
        encode_whole(source, 0, n);
        return {};
    }
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < n; ++t) {
            read_for_codec(source, side_, rotation_, head_dim_, h, t, t + 1, values_.data());
            codec_->encode(values_.data(), size_t(n_groups_), side_.group, codes_.data(), constants_.data(),
                           constants_.data() + n_groups_);
            write_token(h, size_ + t, codes_.data(), constants_.data(), constants_.data() + n_groups_);
            if (looks_ahead_ && !is_idempotent()) not_idempotent_.push_back({h, size_ + t});
        }
    size_ += n;
    return {};
}

Status TokenGroupStore::requantize(const TokenReader& source, int n) {
    if (codec_->needs_whole_tensor()) {
        reserve(size_ + n);
        encode_whole(source, size_, n);
        return {};
    }
    if (!looks_ahead_) {
        std::fprintf(stderr, "kvasir: requantize() without expect_requantize()\n");
        std::abort();
    }
    // Groups are independent here, and one that coding again leaves as it is will stay so forever: only those that it
    // changes are written.
    const auto idempotent = [&](Place p) {
        if (!changes(p.kv_head, p.token)) return true;
        write_token(p.kv_head, p.token, codes_.data(), constants_.data(), constants_.data() + n_groups_);
        return false;
    };
    not_idempotent_.erase(std::remove_if(not_idempotent_.begin(), not_idempotent_.end(), idempotent),
                          not_idempotent_.end());
    return append(source, n);
}

/// True when coding the token in codes_ and constants_ again leaves them as they are.
bool TokenGroupStore::is_idempotent() const {
    return codec_->is_idempotent(codes_.data(), size_t(n_groups_), side_.group, constants_.data(),
                                 constants_.data() + n_groups_);
}

/// True when coding a token's dequantized values again gives other codes or constants, which are then in codes_ and
/// constants_.
bool TokenGroupStore::changes(int kv_head, int token) {
    uint16_t *scale = constants_.data(), *offset = scale + n_groups_;
    read_codes(kv_head, token, codes_.data());
    for (int g = 0; g < n_groups_; ++g) {
        const size_t c = constant_index(kv_head, token, g);
        scale[g] = scale_[c], offset[g] = offset_at(c);
    }
    if (is_idempotent()) return false;
    read(kv_head, token, token + 1, values_.data());
    codec_->encode(values_.data(), size_t(n_groups_), side_.group, codes_.data(), scale, offset);
    return true;
}

/// Codes the last n_kept stored tokens and n new ones as one tensor [n_kv_heads, n_kept + n, head_dim].
void TokenGroupStore::encode_whole(const TokenReader& source, int n_kept, int n) {
    const int total = n_kept + n, first = size_ - n_kept;
    const size_t head_values = size_t(total) * head_dim_, head_groups = size_t(total) * n_groups_;
    std::vector<float> values(n_kv_heads_ * head_values);
    std::vector<uint8_t> codes(values.size());
    std::vector<uint16_t> scale(n_kv_heads_ * head_groups), offset(scale.size());
    for (int h = 0; h < n_kv_heads_; ++h) {
        float* to = values.data() + h * head_values;
        read(h, first, size_, to);
        read_for_codec(source, side_, rotation_, head_dim_, h, 0, n, to + size_t(n_kept) * head_dim_);
    }
    codec_->encode(values.data(), scale.size(), side_.group, codes.data(), scale.data(), offset.data());
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < total; ++t) {
            const size_t g = h * head_groups + size_t(t) * n_groups_;
            write_token(h, first + t, codes.data() + g * side_.group, scale.data() + g, offset.data() + g);
        }
    size_ = first + total;
}

void TokenGroupStore::read(int kv_head, int begin, int end, float* out) const {
    thread_local std::vector<uint8_t> codes;
    codes.resize(size_t(head_dim_));
    GroupDecoder decode(*codec_, side_.bits);
    for (int t = begin; t < end; ++t, out += head_dim_) {
        read_codes(kv_head, t, codes.data());
        for (int g = 0; g < n_groups_; ++g) {
            const size_t c = constant_index(kv_head, t, g);
            decode.set(scale_[c], offset_at(c));
            for (int i = g * side_.group; i < (g + 1) * side_.group; ++i)
                out[i] = decode(codes[i]);
        }
    }
}

kernels::TokenGroups TokenGroupStore::view(int kv_head) const {
    const size_t block = size_t(kv_head) * capacity_blocks_;
    return {side_.bits,
            head_dim_,
            side_.group,
            *codec_->form(),
            words_.data() + block * block_words(),
            scale_.data() + block * block_constants(),
            has_offset_ ? offset_.data() + block * block_constants() : nullptr};
}

size_t TokenGroupStore::query_floats(int n_queries) const {
    return kernels::prepared_query_floats(head_dim_, n_queries);
}

void TokenGroupStore::prepare_query(const float* q, int n_queries, float* prepared) const {
    kernels::prepare_query(q, n_queries, head_dim_, side_.bits, side_.group, prepared);
}

void TokenGroupStore::scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                             size_t out_stride) const {
    const auto k = view(kv_head);
    scores_of_blocks(n_queries, begin, end, out, out_stride, [&](int b0, int b1, float* to, size_t stride) {
        kernels::scores(k, prepared, n_queries, b0, b1, to, stride);
    });
}

void TokenGroupStore::weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                                   float* acc, size_t acc_stride) const {
    const auto v = view(kv_head);
    weights_of_blocks(n_queries, begin, end, p, p_stride, [&](int b0, int b1, const float* weights, size_t stride) {
        kernels::weighted_sum(v, weights, stride, n_queries, b0, b1, acc, acc_stride);
    });
}

void TokenGroupStore::fetch(int kv_head, int token) const {
    kernels::fetch_values(view(kv_head), token / kBlock);
}

void TokenGroupStore::codes_at(int kv_head, int token, KvCache::GroupView& out) const {
    read_codes(kv_head, token, out.codes.data());
    const kernels::AffineForm form = *codec_->form();
    for (int d = 0; d < head_dim_; ++d) {
        const size_t c = constant_index(kv_head, token, d / side_.group);
        out.scale[d] = kernels::half_to_float(scale_[c]);
        const float offset = has_offset_ ? kernels::half_to_float(offset_[c]) : 1.0f;
        out.offset[d] = offset * (form.plain + form.times_scale * out.scale[d]);
    }
    const size_t c = constant_index(kv_head, token, head_dim_ / 2 / side_.group);
    out.set_levels(*codec_, side_.bits, scale_[c], offset_at(c));
}

StoredTensor TokenGroupStore::stored() const {
    StoredTensor out;
    out.codes.resize(size_t(n_kv_heads_) * size_ * head_dim_);
    out.constants_shape = {n_kv_heads_, size_, n_groups_};
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < size_; ++t) {
            read_codes(h, t, out.codes.data() + (size_t(h) * size_ + t) * head_dim_);
            for (int g = 0; g < n_groups_; ++g) {
                out.scale.push_back(scale_[constant_index(h, t, g)]);
                if (has_offset_) out.offset.push_back(offset_[constant_index(h, t, g)]);
            }
        }
    return out;
}

ByteLedger TokenGroupStore::ledger() const {
    const uint64_t tokens = uint64_t(n_kv_heads_) * size_,
                   empty = uint64_t(n_kv_heads_) * (blocks_of(size_) * kBlock - size_);
    const uint64_t code_bytes = uint64_t(head_dim_) * side_.bits / 8, constant_bytes = uint64_t(n_groups_) * 2;
    ByteLedger bytes;
    bytes.codes = tokens * code_bytes;
    bytes.scales = tokens * constant_bytes;
    bytes.zeros = has_offset_ ? bytes.scales : 0;
    bytes.padding = empty * (code_bytes + (has_offset_ ? 2 : 1) * constant_bytes);
    return bytes;
}

}  // namespace kvasir
