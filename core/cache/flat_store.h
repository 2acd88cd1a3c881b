// SPDX-License-Identifier: GPL-3.0-or-later
// Groups that straddle tokens or heads: Quanto axis -1, HQQ axis 0, groups wider than a head, 3 bits. Element e of the
// flattened tensor [n_kv_heads, tokens, head_dim] takes bits [e*bits, (e+1)*bits) of one bit string. What a group
// contains depends on the number of tokens, so tokens are only added by coding everything anew, and attention goes
// through read().
#pragma once

#include <memory>
#include <vector>

#include "core/cache/buffer.h"
#include "core/cache/group_codec.h"
#include "core/cache/rotation.h"
#include "core/cache/store.h"

namespace kvasir {

class FlatStore final : public Store {
 public:
    FlatStore(const SideSpec& side, const StoreShape& shape);

    int size() const override { return size_; }
    void clear() override { size_ = 0; }
    /// Only into an empty store; later tokens come with requantize().
    Status append(const TokenReader& source, int n) override { return requantize(source, n); }
    /// Refuses a number of tokens whose elements do not divide into groups, as the original does.
    Status requantize(const TokenReader& source, int n) override;
    void read(int kv_head, int begin, int end, float* out) const override;

    void codes_at(int kv_head, int token, KvCache::GroupView& out) const override;
    /// Constants as [groups].
    StoredTensor stored() const override;
    ByteLedger ledger() const override;

 private:
    struct Member {
        size_t group, index;
    };
    Member member_of(size_t element, int n_tokens) const;
    uint8_t code(size_t element) const;
    size_t n_elements(int n_tokens) const { return size_t(n_kv_heads_) * n_tokens * head_dim_; }
    Status check_tokens(int n_tokens) const;

    SideSpec side_;
    int n_kv_heads_;
    Side which_;
    Rotation rotation_;
    std::unique_ptr<GroupCodec> codec_;
    int size_ = 0, capacity_ = 0;
    Buffer<uint8_t> bits_;             ///< one byte more than the codes take
    Buffer<uint16_t> scale_, offset_;  ///< [groups]
};

}  // namespace kvasir
