// SPDX-License-Identifier: GPL-3.0-or-later
// Codes that no fused kernel reads: 3, 5, 6 and 7 bits, grids that are no lines (TurboQuant, fp8, exllamav3), odd
// groups. One bit string per (head, token); groups inside a token or along the tokens of a channel. Attention decodes a
// few tokens at a time and multiplies them in fp32.
#pragma once

#include <memory>
#include <vector>

#include "core/cache/buffer.h"
#include "core/cache/group_codec.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class RowStore final : public Store {
 public:
    /// PRECONDITION: groups are independent; side.group > 0.
    RowStore(const SideSpec& side, const StoreShape& shape);

    int size() const override { return size_; }
    void clear() override { size_ = 0; }
    Status append(const TokenReader& source, int n) override;
    Status requantize(const TokenReader& source, int n) override;
    void read(int kv_head, int begin, int end, float* out) const override;

    void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override;
    void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                      size_t acc_stride) const override;

    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    /// Constants as [n_kv_heads, tokens, groups] or, along channels, [n_kv_heads, head_dim, tokens / group].
    StoredTensor stored() const override;
    ByteLedger ledger() const override;

 private:
    bool along_channels() const { return side_.axis == SideSpec::Axis::channel; }
    void reserve(int n_tokens);
    void encode(int kv_head, int first_token, const float* rows);
    uint8_t* row(int kv_head, int token);
    void read_codes(int kv_head, int token, uint8_t* codes) const;
    size_t constant_index(int kv_head, int token, int channel) const;
    void decode(int kv_head, int token, float* out) const;
    template <class F>
    void each_tile(int kv_head, int begin, int end, F&& part) const;

    SideSpec side_;
    int n_kv_heads_, n_constants_;  ///< fp16 constants per group
    Rotation rotation_;
    std::unique_ptr<GroupCodec> codec_;
    size_t row_bytes_,
        row_groups_;               ///< of one (head, token); along channels a group's constants stand in its first row
    int unit_;                     ///< tokens that are coded together
    int size_ = 0, capacity_ = 0;  ///< tokens
    Buffer<uint8_t> bits_;         ///< [n_kv_heads][capacity][row_bytes], and 8 bytes for the last window
    Buffer<uint16_t> scale_, offset_;
};

}  // namespace kvasir
