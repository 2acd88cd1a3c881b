// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of channels inside one token, in layout T8 (kernels/cpu/attention.h): Quanto axis 0, HQQ axis 1, KIVI values,
// kv-hadamard values, QuaRot, ggml q8_0, q4_1 and q4_0, ternary.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/buffer.h"
#include "core/cache/group_codec.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class TokenGroupStore final : public Store {
 public:
    TokenGroupStore(const SideSpec& side, const StoreShape& shape);

    int size() const override { return size_; }
    void clear() override;
    Status append(const TokenReader& source, int n) override;
    Status requantize(const TokenReader& source, int n) override;
    void expect_requantize() override { looks_ahead_ = true; }
    void read(int kv_head, int begin, int end, float* out) const override;

    size_t query_floats(int n_queries) const override;
    void prepare_query(const float* q, int n_queries, float* prepared) const override;
    void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override;
    void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                      size_t acc_stride) const override;
    void fetch(int kv_head, int token) const override;

    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    StoredTensor stored() const override;
    ByteLedger ledger() const override;

 private:
    void encode_whole(const TokenReader& source, int n_kept, int n);
    bool is_idempotent() const;
    bool changes(int kv_head, int token);
    void reserve(int n_tokens);
    void write_token(int kv_head, int token, const uint8_t* codes, const uint16_t* scale, const uint16_t* offset);
    void read_codes(int kv_head, int token, uint8_t* codes) const;
    kernels::TokenGroups view(int kv_head) const;

    /// A stored vector of one head.
    struct Place {
        int kv_head, token;
    };

    size_t block_words() const { return size_t(head_dim_) * side_.bits / 32 * 8; }
    size_t block_constants() const { return size_t(n_groups_) * 8; }
    size_t constant_index(int kv_head, int token, int group) const;
    uint16_t offset_at(size_t index) const { return has_offset_ ? offset_[index] : uint16_t{0}; }

    SideSpec side_;
    int n_kv_heads_, n_groups_;  ///< groups per token and head
    bool has_offset_;            ///< false: the codec stores a scale only
    Rotation rotation_;
    std::unique_ptr<GroupCodec> codec_;
    int size_ = 0, capacity_blocks_ = 0;
    Buffer<uint32_t> words_;           ///< [n_kv_heads][capacity_blocks][head_dim*bits/32][8]
    Buffer<uint16_t> scale_, offset_;  ///< [n_kv_heads][capacity_blocks][n_groups][8]; offset_ may be empty
    bool looks_ahead_ = false;
    std::vector<Place> not_idempotent_;  ///< tokens that coding again changes, when it looks ahead
    std::vector<float> values_;          ///< one token
    std::vector<uint8_t> codes_;         ///< one token
    std::vector<uint16_t> constants_;    ///< scale and offset of one token
};

}  // namespace kvasir
