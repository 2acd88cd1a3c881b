// SPDX-License-Identifier: GPL-3.0-or-later
// What holds the tokens of one (layer, side), all KV heads: read-only view, and the interface of quantized storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/cache/kv_cache.h"

namespace kvasir {

/// Tokens of all KV heads that can be read as fp32 rows.
class TokenReader {
 public:
    virtual ~TokenReader() = default;
    virtual int size() const = 0;  ///< tokens
    /// Tokens [begin, end) of one head as (end - begin, head_dim).
    virtual void read(int kv_head, int begin, int end, float* out) const = 0;
    /// Asks for the memory that weighted_sum() over tokens from `token` on begins with; it will be called soon.
    virtual void fetch(int kv_head, int token) const;
};

/// Queries in the space of a store, as its scores() takes them: (n_queries, padded_channels(head_dim)), zeros behind
/// the head's channels.
size_t padded_query_floats(int head_dim, int n_queries);
/// q (n_queries, head_dim) in that form.
void pad_queries(const float* q, int n_queries, int head_dim, float* padded);

/// out[h * out_stride + (t - begin)] = q_h . x_t through read(), summed in double: the oracle of every fused kernel.
/// q is padded.
void scores_by_read(const TokenReader& x, int head_dim, int kv_head, const float* q, int n_queries, int begin, int end,
                    float* out, size_t out_stride);

/// acc[h * acc_stride + d] += sum_t p[h * p_stride + (t - begin)] * x_t[d] through read(), summed in double.
void weighted_sum_by_read(const TokenReader& x, int head_dim, int kv_head, const float* p, size_t p_stride,
                          int n_queries, int begin, int end, float* acc, size_t acc_stride);

/// Everything a store holds, in the element order of the original library.
struct StoredTensor {
    std::vector<uint8_t> codes;           ///< [n_kv_heads, tokens, head_dim], one code a byte
    std::vector<uint16_t> scale, offset;  ///< fp16 group constants in the original's order; empty: it stores none
    std::vector<int> constants_shape;     ///< shape of scale and offset
};

struct StoreShape {
    int n_kv_heads = 0, head_dim = 0, max_tokens = 0;
    Side which = Side::k;
};

/// Storage of the leading tokens. A rotated side stays in its own space here: read, scores and weighted_sum speak of
/// rotated vectors (but see reads_back_plain), and append rotates what it is given.
class Store : public TokenReader {
 public:
    /// Forgets all tokens, keeps the allocation.
    virtual void clear() = 0;

    /// Quantizes the first n tokens of `source` (fp16 values) as one tensor and puts them after the stored ones.
    virtual Status append(const TokenReader& source, int n) = 0;

    /// Quantizes the stored tokens, as read() gives them, and the first n of `source` again as ONE tensor.
    virtual Status requantize(const TokenReader& source, int n) = 0;

    /// To be called before anything is stored when requantize() will be: what is known while tokens are appended need
    /// not be found out then.
    virtual void expect_requantize() {}

    /// Query preparation for scores(): q (n_queries, head_dim) in the space of the stored keys; default pads it.
    virtual size_t query_floats(int n_queries) const;
    virtual void prepare_query(const float* q, int n_queries, float* prepared) const;

    virtual void scores(int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                        size_t out_stride) const;
    virtual void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                              float* acc, size_t acc_stride) const;

    /// Codes and constants of one token; see KvCache::GroupView. The vectors have head_dim elements.
    virtual void codes_at(int kv_head, int token, KvCache::GroupView& out) const = 0;

    virtual StoredTensor stored() const = 0;
    virtual ByteLedger ledger() const = 0;

 protected:
    explicit Store(int head_dim) : head_dim_(head_dim) {}
    int head_dim_;
};

/// How the tokens of a side that is not plain are laid out.
enum class Layout {
    rotated,         ///< RotatedStore
    token_blocks,    ///< TokenGroupStore: whole blocks of 8 tokens
    channel_blocks,  ///< ChannelGroupStore
    rows,            ///< RowStore: whole bytes per (head, token)
    flat             ///< FlatStore
};
Layout layout_of(const SideSpec& side, int head_dim);

/// The storage kind for a side that is not plain: packed groups with fused kernels where the layout allows, rows of
/// bits where groups are independent, else flat. The geometry must have passed check_geometry.
std::unique_ptr<Store> make_store(const SideSpec& side, const StoreShape& shape);

}  // namespace kvasir
