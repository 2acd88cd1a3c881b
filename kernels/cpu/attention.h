// SPDX-License-Identifier: GPL-3.0-or-later
// q.K^T and p.V straight from packed codes. Layout T8 and the factored form: see docs/decisions and the comments
// beside each view. All functions work on whole blocks of 8 tokens of ONE kv head and on `n_queries` query vectors
// that share it (the GQA group); callers zero the probabilities of tokens outside their range.
//
// Layout T8: words[block of 8 tokens][word][8 tokens]. A group of `group` channels takes group*bits/32 words; word j of
// a group, slot s (S = 32/bits slots) holds the group's channel s*(words of the group) + j at bit bits*s, unsigned.
// kReadBeyond bytes after the last word must be readable; what stands there is of no matter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir::kernels {

/// The kernels read the upper half of a word, or one of its bytes, as the lowest: 32 bytes from there on.
constexpr std::size_t kReadBeyond = 3;

/// Heads whose vectors the kernels work on.
constexpr int kSmallestHeadDim = 8, kLargestHeadDim = 512;

/// Channels that a vector of head_dim channels takes where whole registers are read or written: rows of exact values,
/// the queries of exact keys, sums. Those beyond head_dim are zero.
constexpr int padded_channels(int head_dim) {
    return (head_dim + 7) / 8 * 8;
}

/// offset of a group = stored * (plain + times_scale * scale); value = scale * code + offset.
/// Quanto stores shift (plain -1), KIVI and kv-hadamard the minimum (plain +1), HQQ zero in code units (times_scale
/// -1). Forms without a stored offset (ggml q8_0 and q4_0, ternary) have a null pointer and 1 in its place.
struct AffineForm {
    float plain = 1;
    float times_scale = 0;
};

/// Groups of `group` channels inside one token (Quanto axis 0, HQQ axis 1, KIVI values, kv-hadamard).
/// head_dim % group == 0, group * bits % 32 == 0, bits in {1, 2, 4, 8}.
struct TokenGroups {
    int bits, head_dim, group;
    AffineForm form;
    const uint32_t* words;   // [n_blocks][head_dim*bits/32][8]
    const uint16_t* scale;   // fp16 [n_blocks][head_dim/group][8]
    const uint16_t* offset;  // fp16, same shape; unused lanes of the last block hold 0; may be null
};

/// Groups of `group` consecutive tokens of one channel (KIVI keys). group % 8 == 0, head_dim * bits % 32 == 0; the
/// words are those of one group of head_dim channels. head_dim % 8 == 0.
struct ChannelGroups {
    int bits, head_dim, group;
    AffineForm form;
    const uint32_t* words;   // [n_blocks][head_dim*bits/32][8]
    const uint16_t* scale;   // fp16 [n_tokens/group][head_dim], plain channel order
    const uint16_t* offset;  // fp16, same shape
};

/// Exact tokens. Element type fp16 (uint16_t) or fp32 (float).
/// Keys: [n_blocks][head_dim][8 tokens]; values: rows [token][head_dim]. head_dim is a padded one here.
template <class Element>
struct ExactTokens {
    int head_dim;
    const Element* data;
};

/// Floats that prepare_query writes for n_queries.
size_t prepared_query_floats(int head_dim, int n_queries);

/// q (n_queries, head_dim) fp32 -> the forms the score kernels want for `bits` and `group` (powers of two in place,
/// word-and-slot order, sums per group). For ChannelGroups pass group = head_dim.
void prepare_query(const float* q, int n_queries, int head_dim, int bits, int group, float* prepared);

/// out[h * out_stride + 8*b + lane] = q_h . k_token for blocks [block_begin, block_end), b counted from block_begin.
void scores(const TokenGroups& k, const float* prepared, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride);
/// As above; q is the plain (n_queries, head_dim) query: each group scales it anew. block_begin may be any block.
void scores(const ChannelGroups& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride);
void scores(const ExactTokens<uint16_t>& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride);
void scores(const ExactTokens<float>& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride);

/// Asks for the memory that a weighted sum from there on begins with, to be called a little before. The sum itself
/// fetches ahead what follows.
void fetch_values(const TokenGroups& v, int block);
void fetch_values(const ChannelGroups& v, int block);
void fetch_values(const ExactTokens<uint16_t>& v, int token);
void fetch_values(const ExactTokens<float>& v, int token);

/// acc[h * acc_stride + d] += sum over the tokens of blocks [block_begin, block_end) of p[h * p_stride + i] *
/// v[token][d], i = token - 8*block_begin. Writes padded_channels(head_dim) of a sum, those beyond head_dim unchanged.
void weighted_sum(const TokenGroups& v, const float* p, size_t p_stride, int n_queries, int block_begin, int block_end,
                  float* acc, size_t acc_stride);
void weighted_sum(const ChannelGroups& v, const float* p, size_t p_stride, int n_queries, int block_begin,
                  int block_end, float* acc, size_t acc_stride);
/// Exact values are rows, so any token range [token_begin, token_end) will do; i = token - token_begin.
void weighted_sum(const ExactTokens<uint16_t>& v, const float* p, size_t p_stride, int n_queries, int token_begin,
                  int token_end, float* acc, size_t acc_stride);
void weighted_sum(const ExactTokens<float>& v, const float* p, size_t p_stride, int n_queries, int token_begin,
                  int token_end, float* acc, size_t acc_stride);

}  // namespace kvasir::kernels
