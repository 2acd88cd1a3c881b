// SPDX-License-Identifier: GPL-3.0-or-later
// q.K^T for blocks of 8 tokens: a register holds one word of 8 tokens, every query of a chunk uses it once unpacked,
// and several blocks at once give enough independent accumulators to keep two multiply-adds per cycle going. Each
// (query, token) has one accumulator and one order of operations: channels in word-and-slot order inside a group, then
// total = fma(scale, acc, total), total = fma(offset, sum of q, total) for ascending groups.
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_layout.h"
#include "kernels/cpu/fetch_ahead.h"
#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_scores.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Blocks at once for a chunk of n_queries: 8 or 9 accumulators, enough for two multiply-adds per cycle of latency 4.
constexpr int blocks_at_once(int n_queries) {
    return !kOneRegister ? 1 : n_queries == 1 ? 8 : n_queries == 2 ? 4 : n_queries == 3 ? 3 : 2;
}

/// The same where groups of 4 blocks have factors of their own: 3 would leave one. 12 accumulators fit where words have
/// 4 or 8 slots in a half; else the compiler spills more than they bring.
constexpr int channel_blocks_at_once(int bits, int n_queries) {
    const bool twelve = n_queries == 3 && (bits == 2 || bits == 4);
    return !kOneRegister ? 1 : n_queries <= 2 || twelve ? 4 : 2;
}

/// Blocks at once when fewer are left.
constexpr int fewer_blocks(int n_blocks) {
    return n_blocks == 3 ? 2 : n_blocks / 2;
}

/// The same for exact tokens: memory is their limit, and it is fastest with few streams.
constexpr int exact_blocks_at_once(int n_queries) {
    return !kOneRegister ? 1 : n_queries <= 2 ? 4 : 2;
}

struct Output {
    float* data;
    size_t stride;
};

template <int B, int H>
HWY_INLINE void store(const F8 (&a)[B][H], int block, const Output& out) {
    for (int h = 0; h < H; ++h)
        for (int b = 0; b < B; ++b)
            store8(a[b][h], out.data + size_t(h) * out.stride + 8 * size_t(block + b));
}

/// q (n, head_dim) interleaved in word-and-slot order with its powers of two, then the sums per group.
void prepare_chunk(const float* q, int n, int head_dim, int bits, int group, float* prepared) {
    const int slots = 32 / bits, words = group / slots;
    float* const sums = prepared + size_t(head_dim) * size_t(n);
    for (int g = 0; g < head_dim / group; ++g)
        for (int h = 0; h < n; ++h) {
            const float* from = q + size_t(h) * size_t(head_dim) + size_t(g) * size_t(group);
            float* to = prepared + size_t(g) * size_t(group) * size_t(n) + h;
            double sum = 0;
            for (int s = 0; s < slots; ++s) {
                const float factor = slot_factor(bits, s % slots_per_half(bits));
                for (int j = 0; j < words; ++j) {
                    const float x = from[s * words + j];
                    sum += double(x);
                    to[size_t(j * slots + s) * size_t(n)] = x * factor;
                }
            }
            sums[g * n + h] = float(sum);
        }
}

template <int kBits, int B, int H>
HWY_INLINE void token_group_blocks(const TokenGroups& k, const float* HWY_RESTRICT prepared, int block, int out_block,
                                   const Output& out) {
    constexpr int kSlots = 32 / kBits;
    const int n_groups = k.head_dim / k.group, group_words = k.group / kSlots;
    const size_t block_words = size_t(k.head_dim / kSlots) * 8, block_constants = size_t(n_groups) * 8;
    const uint32_t* HWY_RESTRICT words = k.words + size_t(block) * block_words;
    const uint16_t* scale = k.scale + size_t(block) * block_constants;
    const uint16_t* offset = k.offset ? k.offset + size_t(block) * block_constants : nullptr;
    const float* sums = prepared + size_t(k.head_dim) * H;
    const F8 plain = set8(k.form.plain), times_scale = set8(k.form.times_scale);
    FetchAhead ahead(words), scales_ahead(scale, kConstantsAhead), offsets_ahead(offset, kConstantsAhead);
    scales_ahead.next(B * block_constants * sizeof(uint16_t));
    if (offset) offsets_ahead.next(B * block_constants * sizeof(uint16_t));
    F8 total[B][H];
    clear(total);
    for (int g = 0; g < n_groups; ++g, sums += H) {
        F8 acc[B][H];
        clear(acc);
        for (int j = 0; j < group_words; ++j, words += 8, prepared += kSlots * H) {
            ahead.next(B * 32);
            add_word<kBits>(words, block_words, prepared, H, 1, acc);
        }
        for (int b = 0; b < B; ++b) {
            const size_t at = size_t(b) * block_constants + size_t(g) * 8;
            const F8 s = load_half8(scale + at);
            const F8 o = group_offset(offset, at, s, plain, times_scale);
            for (int h = 0; h < H; ++h)
                total[b][h] = MulAdd(o, set8(sums[h]), MulAdd(s, acc[b][h], total[b][h]));
        }
    }
    store(total, out_block, out);
}

/// Calls blocks(first block, B as a constant) for all of [begin, end), B at once and then fewer.
template <int B, class F>
HWY_INLINE void for_blocks(int begin, int end, F&& blocks) {
    for (; begin + B <= end; begin += B)
        blocks(begin, std::integral_constant<int, B>());
    if constexpr (B > 1)
        if (begin < end) for_blocks<fewer_blocks(B)>(begin, end, blocks);
}

template <int kBits, int H>
void TokenGroupScores(const TokenGroups& k, const float* prepared, int begin, int end, const Output& out) {
    for_blocks<blocks_at_once(H)>(begin, end, [&](int b, auto at_once) {
        token_group_blocks<kBits, at_once(), H>(k, prepared, b, b - begin, out);
    });
}

/// [lane][vector] of H vectors, as add_word wants the factors of H queries.
template <int H>
HWY_INLINE void store_interleaved(const F8 (&v)[H], float* to) {
    if constexpr (H == 1) {
        store8(v[0], to);
    } else {
#if HWY_TARGET == HWY_AVX2
        if constexpr (H == 2) hn::StoreInterleaved2(v[0], v[1], DF(), to);
        if constexpr (H == 3) hn::StoreInterleaved3(v[0], v[1], v[2], DF(), to);
        if constexpr (H == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], DF(), to);
#endif
    }
}

/// The factors of one token group: x [channel][query] = q * scale * power of two, start = sum of q * offset.
template <int H>
HWY_INLINE void channel_group_factors(const ChannelGroups& k, int group, const float* q, const float* q_powers,
                                      float* x, float (&start)[H]) {
    const size_t head_dim = size_t(k.head_dim);
    const uint16_t* scale = k.scale + size_t(group) * head_dim;
    const uint16_t* offset = k.offset ? k.offset + size_t(group) * head_dim : nullptr;
    const F8 plain = set8(k.form.plain), times_scale = set8(k.form.times_scale);
    F8 sum[H];
    for (int h = 0; h < H; ++h)
        sum[h] = zero8();
    for (size_t d = 0; d < head_dim; d += 8) {
        const F8 s = load_half8(scale + d);
        const F8 o = group_offset(offset, d, s, plain, times_scale);
        F8 factor[H];
        for (int h = 0; h < H; ++h) {
            const size_t at = size_t(h) * head_dim + d;
            sum[h] = MulAdd(load8(q + at), o, sum[h]);
            factor[h] = Mul(load8(q_powers + at), s);
        }
        store_interleaved(factor, x + d * H);
    }
    for (int h = 0; h < H; ++h)
        start[h] = sum8(sum[h]);
}

template <int kBits, int B, int H>
HWY_INLINE void channel_group_blocks(const ChannelGroups& k, const float* HWY_RESTRICT x, const float (&start)[H],
                                     int block, int out_block, const Output& out) {
    const size_t head_dim = size_t(k.head_dim), n_words = head_dim * kBits / 32;
    const uint32_t* HWY_RESTRICT words = k.words + size_t(block) * n_words * 8;
    FetchAhead ahead(words);
    F8 acc[B][H];
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < H; ++h)
            acc[b][h] = set8(start[h]);
    for (size_t j = 0; j < n_words; ++j, words += 8) {
        ahead.next(B * 32);
        add_word<kBits>(words, n_words * 8, x + j * H, n_words * H, 1, acc);
    }
    store(acc, out_block, out);
}

template <int kBits, int H>
void ChannelGroupScores(const ChannelGroups& k, const float* q, int begin, int end, const Output& out) {
    const int group_blocks = k.group / 8;
    const int n_words = k.head_dim * kBits / 32;
    alignas(64) float q_powers[H * kMaxHeadDim];
    alignas(64) float x[H * kMaxHeadDim];
    for (int h = 0; h < H; ++h)
        for (int d = 0; d < k.head_dim; ++d)
            q_powers[h * k.head_dim + d] =
                q[h * k.head_dim + d] * slot_factor(kBits, d / n_words % slots_per_half(kBits));
    for (int b = begin; b < end;) {
        const int group = b / group_blocks;
        const int stop = std::min(end, (group + 1) * group_blocks);
        float start[H];
        channel_group_factors<H>(k, group, q, q_powers, x, start);
        for_blocks<channel_blocks_at_once(kBits, H)>(b, stop, [&](int first, auto at_once) {
            channel_group_blocks<kBits, at_once(), H>(k, x, start, first, first - begin, out);
        });
        b = stop;
    }
}

template <class Element, int B, int H>
HWY_INLINE void exact_blocks(const ExactTokens<Element>& k, const float* HWY_RESTRICT q, int block, int out_block,
                             const Output& out) {
    const size_t head_dim = size_t(k.head_dim);
    const Element* HWY_RESTRICT data = k.data + size_t(block) * head_dim * 8;
    constexpr size_t kLine = FetchAhead::kLine / sizeof(Element) / 8;  // channels of a block in a line
    FetchAhead ahead(data);
    F8 acc[B][H];
    clear(acc);
    for (size_t d = 0; d < head_dim; d += kLine) {
        ahead.next(B * FetchAhead::kLine);
        for (size_t i = d; i < d + kLine; ++i) {
            F8 value[B];
            for (int b = 0; b < B; ++b)
                value[b] = load_exact(data + (size_t(b) * head_dim + i) * 8);
            for (int h = 0; h < H; ++h) {
                const F8 x = set8(q[size_t(h) * head_dim + i]);
                for (int b = 0; b < B; ++b)
                    acc[b][h] = MulAdd(value[b], x, acc[b][h]);
            }
        }
    }
    store(acc, out_block, out);
}

template <class Element, int H>
void exact_scores(const ExactTokens<Element>& k, const float* q, int begin, int end, const Output& out) {
    constexpr int B = exact_blocks_at_once(H);
    int b = begin;
    for (; b + B <= end; b += B)
        exact_blocks<Element, B, H>(k, q, b, b - begin, out);
    for (; b < end; ++b)
        exact_blocks<Element, 1, H>(k, q, b, b - begin, out);
}

/// Calls chunk(first query, queries in the chunk, output) for all queries.
template <class F>
void for_query_chunks(int n_queries, float* out, size_t out_stride, F&& chunk) {
    for (int h = 0; h < n_queries; h += kQueryChunk)
        chunk(size_t(h), std::min(n_queries - h, kQueryChunk), Output{out + size_t(h) * out_stride, out_stride});
}

void PrepareQuery(const float* q, int n_queries, int head_dim, int bits, int group, float* prepared) {
    const size_t floats = prepared_floats_per_query(head_dim, group);
    for_query_chunks(n_queries, prepared, floats, [&](size_t h, int n, const Output& out) {
        const float* from = q + h * size_t(head_dim);
        prepare_chunk(from, n, head_dim, bits, group, out.data);
    });
}

void ScoresTokenGroups(const TokenGroups& k, const float* prepared, int n_queries, int begin, int end, float* out,
                       size_t out_stride) {
    const size_t floats = prepared_floats_per_query(k.head_dim, k.group);
    for_query_chunks(n_queries, out, out_stride, [&](size_t h, int n, const Output& o) {
        KVASIR_FOR_BITS_AND_QUERIES(TokenGroupScores, k.bits, n, k, prepared + h * floats, begin, end, o);
    });
}

void ScoresChannelGroups(const ChannelGroups& k, const float* q, int n_queries, int begin, int end, float* out,
                         size_t out_stride) {
    for_query_chunks(n_queries, out, out_stride, [&](size_t h, int n, const Output& o) {
        KVASIR_FOR_BITS_AND_QUERIES(ChannelGroupScores, k.bits, n, k, q + h * size_t(k.head_dim), begin, end, o);
    });
}

template <class Element>
HWY_INLINE void scores_exact(const ExactTokens<Element>& k, const float* q, int n_queries, int begin, int end,
                             float* out, size_t out_stride) {
    for_query_chunks(n_queries, out, out_stride, [&](size_t h, int n, const Output& o) {
        KVASIR_FOR_QUERIES(exact_scores, Element, n, k, q + h * size_t(k.head_dim), begin, end, o);
    });
}

void ScoresHalf(const ExactTokens<uint16_t>& k, const float* q, int n_queries, int begin, int end, float* out,
                size_t out_stride) {
    scores_exact(k, q, n_queries, begin, end, out, out_stride);
}
void ScoresFloat(const ExactTokens<float>& k, const float* q, int n_queries, int begin, int end, float* out,
                 size_t out_stride) {
    scores_exact(k, q, n_queries, begin, end, out, out_stride);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(PrepareQuery);
HWY_EXPORT(ScoresTokenGroups);
HWY_EXPORT(ScoresChannelGroups);
HWY_EXPORT(ScoresHalf);
HWY_EXPORT(ScoresFloat);

size_t prepared_query_floats(int head_dim, int n_queries) {
    constexpr int kSmallestGroup = 4;  // group * bits % 32 == 0, bits <= 8
    return size_t(n_queries) * prepared_floats_per_query(head_dim, kSmallestGroup);
}

void prepare_query(const float* q, int n_queries, int head_dim, int bits, int group, float* prepared) {
    HWY_DYNAMIC_DISPATCH(PrepareQuery)(q, n_queries, head_dim, bits, group, prepared);
}
void scores(const TokenGroups& k, const float* prepared, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride) {
    HWY_DYNAMIC_DISPATCH(ScoresTokenGroups)(k, prepared, n_queries, block_begin, block_end, out, out_stride);
}
void scores(const ChannelGroups& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride) {
    require_head_dim(k.head_dim);
    HWY_DYNAMIC_DISPATCH(ScoresChannelGroups)(k, q, n_queries, block_begin, block_end, out, out_stride);
}
void scores(const ExactTokens<uint16_t>& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride) {
    HWY_DYNAMIC_DISPATCH(ScoresHalf)(k, q, n_queries, block_begin, block_end, out, out_stride);
}
void scores(const ExactTokens<float>& k, const float* q, int n_queries, int block_begin, int block_end, float* out,
            size_t out_stride) {
    HWY_DYNAMIC_DISPATCH(ScoresFloat)(k, q, n_queries, block_begin, block_end, out, out_stride);
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
