// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of consecutive tokens of one channel, codes in layout T8 (kernels/cpu/attention.h): KIVI keys. Holds whole
// groups only.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/buffer.h"
#include "core/cache/group_codec.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class ChannelGroupStore final : public Store {
 public:
    ChannelGroupStore(const SideSpec& side, const StoreShape& shape);

    int size() const override { return size_; }
    void clear() override { size_ = 0; }
    /// Refuses an n that is not a multiple of the group; the flush rule hands over whole blocks.
    Status append(const TokenReader& source, int n) override;
    /// Whole groups never change: their tokens are stored once. (No scheme flushes channel groups whole.)
    Status requantize(const TokenReader& source, int n) override { return append(source, n); }
    void read(int kv_head, int begin, int end, float* out) const override;

    void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override;
    void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                      size_t acc_stride) const override;
    void fetch(int kv_head, int token) const override;

    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    /// Constants as [n_kv_heads, head_dim, tokens / group].
    StoredTensor stored() const override;
    ByteLedger ledger() const override;

 private:
    void reserve(int n_tokens);
    void write_group(int kv_head, int first_token);
    void read_codes(int kv_head, int token, uint8_t* codes) const;
    kernels::ChannelGroups view(int kv_head) const;
    size_t block_words() const { return size_t(head_dim_) * side_.bits / 32 * 8; }
    const uint16_t* constants(const Buffer<uint16_t>& all, int kv_head, int token) const;

    SideSpec side_;
    int n_kv_heads_;
    Rotation rotation_;
    std::unique_ptr<GroupCodec> codec_;
    int size_ = 0, capacity_ = 0;               ///< tokens, multiples of the group
    Buffer<uint32_t> words_;                    ///< [n_kv_heads][capacity/8][head_dim*bits/32][8]
    Buffer<uint16_t> scale_, offset_;           ///< [n_kv_heads][capacity/group][head_dim]
    std::vector<float> rows_, columns_;         ///< one group of tokens: (group, head_dim) and (head_dim, group)
    std::vector<uint8_t> codes_, token_codes_;  ///< (head_dim, group)
};

}  // namespace kvasir
