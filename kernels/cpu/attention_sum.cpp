// SPDX-License-Identifier: GPL-3.0-or-later
// p.V from packed codes: lanes are tokens, so a channel costs one multiply-add per 8 tokens and one horizontal sum per
// range. 4 slots of a word x the queries of a chunk are accumulated together. Exact values are rows: lanes are
// channels.
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_layout.h"
#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_sum.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Blocks summed before the horizontal sums: 256 tokens, whose codes and weights fit the first-level cache.
constexpr int kRangeBlocks = 32;

/// Slots accumulated together for H queries: at most 12 accumulators.
constexpr int slots_at_once(int n_queries) {
    return n_queries == 4 ? 2 : 4;
}

struct Probabilities {
    const float* data;
    size_t stride;
};

struct Sums {
    float* data;
    size_t stride;
};

/// Probabilities times scale for one range and group: [block][query][8 tokens].
template <int H>
struct Weights {
    alignas(64) float p[kRangeBlocks * H * 8];
    float offset[H];  // sum of p * offset
};

template <int H>
HWY_INLINE void token_group_weights(const TokenGroups& v, int group, const Probabilities& p, int block, int n_blocks,
                                    Weights<H>& w) {
    const size_t n_groups = size_t(v.head_dim / v.group);
    const F8 plain = set8(v.form.plain), times_scale = set8(v.form.times_scale);
    F8 offset[H];
    for (int h = 0; h < H; ++h)
        offset[h] = zero8();
    for (int b = 0; b < n_blocks; ++b) {
        const size_t at = (size_t(block + b) * n_groups + size_t(group)) * 8;
        const F8 s = load_half8(v.scale + at);
        const F8 o = group_offset(v.offset, at, s, plain, times_scale);
        for (int h = 0; h < H; ++h) {
            const F8 x = load8(p.data + size_t(h) * p.stride + 8 * size_t(b));
            store8(Mul(x, s), w.p + (b * H + h) * 8);
            offset[h] = MulAdd(x, o, offset[h]);
        }
    }
    for (int h = 0; h < H; ++h)
        w.offset[h] = sum8(offset[h]);
}

template <int H>
HWY_INLINE void add_products(F8 value, const F8 (&x)[H], F8 (&acc)[H]) {
    for (int h = 0; h < H; ++h)
        acc[h] = MulAdd(value, x[h], acc[h]);
}

/// acc[i][h] += sum over blocks of slot first + i of the word * p, times 2^(kBits * (i % slots_per_shift)).
template <int kBits, int H, int... kIndex>
HWY_INLINE void add_slots_of_blocks(const uint32_t* HWY_RESTRICT words, size_t block_words, int first,
                                    const float* HWY_RESTRICT p, int n_blocks, F8 (&acc)[sizeof...(kIndex)][H],
                                    std::integer_sequence<int, kIndex...>) {
    constexpr int kShiftSlots = slots_per_shift(kBits);
    // The same place of the next range, asked for once.
    const size_t ahead = first == 0 ? size_t(n_blocks) * block_words * sizeof(uint32_t) : 0;
    for (int b = 0; b < n_blocks; ++b, words += block_words, p += 8 * H) {
        prefetch(words, ahead);
        const U8 word = shift_right(load8(words), kBits * first);
        const U8 part[2] = {word, ShiftRight<16>(word)};  // the second is used for 8 bits only
        F8 x[H];
        for (int h = 0; h < H; ++h)
            x[h] = load8(p + 8 * h);
        // One value at a time: 12 accumulators and 3 weights leave one register.
        (add_products(slot_value<kBits, kIndex % kShiftSlots>(part[kIndex / kShiftSlots]), x, acc[kIndex]), ...);
    }
}

template <int kBits, int H>
void TokenGroupSum(const TokenGroups& v, const Probabilities& p, int begin, int end, const Sums& out) {
    constexpr int kSlots = 32 / kBits, C = slots_at_once(H);
    const size_t group_words = size_t(v.group / kSlots), block_words = size_t(v.head_dim / kSlots) * 8;
    Weights<H> w;
    for (int block = begin; block < end; block += kRangeBlocks) {
        const int n_blocks = std::min(end - block, kRangeBlocks);
        const Probabilities range{p.data + 8 * size_t(block - begin), p.stride};
        const uint32_t* words = v.words + size_t(block) * block_words;
        for (int g = 0; g < v.head_dim / v.group; ++g) {
            token_group_weights<H>(v, g, range, block, n_blocks, w);
            Sums to{out.data + size_t(g) * size_t(v.group), out.stride};
            for (size_t j = 0; j < group_words; ++j, words += 8, ++to.data)
                for (int first = 0; first < kSlots; first += C) {
                    F8 acc[C][H];
                    clear(acc);
                    add_slots_of_blocks<kBits, H>(words, block_words, first, w.p, n_blocks, acc,
                                                  std::make_integer_sequence<int, C>());
                    for (int i = 0; i < C; ++i)
                        for (int h = 0; h < H; ++h)
                            to.data[size_t(h) * to.stride + size_t(first + i) * group_words] +=
                                sum8(acc[i][h]) * slot_factor(kBits, i % slots_per_shift(kBits)) + w.offset[h];
                }
        }
    }
}

/// One word of all blocks for ChannelGroups: the scale of a channel is a constant for `group_blocks` blocks, so each
/// such piece is summed by itself and added with its scale.
template <int kBits, int H>
HWY_INLINE void channel_group_slots(const ChannelGroups& v, size_t word, int first, const float* p, int begin, int end,
                                    const Sums& out) {
    constexpr int C = slots_at_once(H);
    const size_t n_words = size_t(v.head_dim) * kBits / 32, block_words = n_words * 8;
    const int group_blocks = v.group / 8;
    F8 total[C][H];
    clear(total);
    for (int b = begin; b < end;) {
        const int group = b / group_blocks;
        const int stop = std::min(end, (group + 1) * group_blocks);
        F8 acc[C][H];
        clear(acc);
        add_slots_of_blocks<kBits, H>(v.words + size_t(b) * block_words + 8 * word, block_words, first,
                                      p + size_t(b - begin) * H * 8, stop - b, acc,
                                      std::make_integer_sequence<int, C>());
        for (int i = 0; i < C; ++i) {
            const size_t channel = size_t(first + i) * n_words + word;
            const float scale = half_to_float(v.scale[size_t(group) * size_t(v.head_dim) + channel]);
            const F8 factor = set8(scale * slot_factor(kBits, i % slots_per_shift(kBits)));
            for (int h = 0; h < H; ++h)
                total[i][h] = MulAdd(acc[i][h], factor, total[i][h]);
        }
        b = stop;
    }
    for (int i = 0; i < C; ++i)
        for (int h = 0; h < H; ++h)
            out.data[size_t(h) * out.stride + size_t(first + i) * n_words + word] += sum8(total[i][h]);
}

/// out += offset * (sum of p) for each group of tokens.
template <int H>
void add_channel_offsets(const ChannelGroups& v, const float* p, int begin, int end, const Sums& out) {
    const int group_blocks = v.group / 8;
    const F8 plain = set8(v.form.plain), times_scale = set8(v.form.times_scale);
    for (int b = begin; b < end;) {
        const size_t group = size_t(b / group_blocks);
        const int stop = std::min(end, int(group + 1) * group_blocks);
        float mass[H];
        for (int h = 0; h < H; ++h) {
            F8 sum = zero8();
            for (int i = b; i < stop; ++i)
                sum = Add(sum, load8(p + (size_t(i - begin) * H + size_t(h)) * 8));
            mass[h] = sum8(sum);
        }
        for (size_t d = 0; d < size_t(v.head_dim); d += 8) {
            const size_t at = group * size_t(v.head_dim) + d;
            const F8 o = group_offset(v.offset, at, load_half8(v.scale + at), plain, times_scale);
            for (int h = 0; h < H; ++h) {
                float* y = out.data + size_t(h) * out.stride + d;
                store8(MulAdd(o, set8(mass[h]), load8(y)), y);
            }
        }
        b = stop;
    }
}

template <int kBits, int H>
void ChannelGroupSum(const ChannelGroups& v, const Probabilities& p, int begin, int end, const Sums& out) {
    Weights<H> w;
    for (int block = begin; block < end; block += kRangeBlocks) {
        const int stop = std::min(end, block + kRangeBlocks);
        for (int b = block; b < stop; ++b)
            for (int h = 0; h < H; ++h)
                store8(load8(p.data + size_t(h) * p.stride + 8 * size_t(b - begin)), w.p + ((b - block) * H + h) * 8);
        for (size_t j = 0; j < size_t(v.head_dim) * kBits / 32; ++j)
            for (int first = 0; first < 32 / kBits; first += slots_at_once(H))
                channel_group_slots<kBits, H>(v, j, first, w.p, block, stop, out);
        add_channel_offsets<H>(v, w.p, block, stop, out);
    }
}

/// Channels [channel, channel + 8 C) of exact rows.
template <class Element, int C, int H>
HWY_INLINE void exact_channels(const ExactTokens<Element>& v, size_t channel, const Probabilities& p, int begin,
                               int end, const Sums& out) {
    const size_t head_dim = size_t(v.head_dim);
    F8 acc[C][H];
    clear(acc);
    const Element* row = v.data + size_t(begin) * head_dim + channel;
    for (int t = begin; t < end; ++t, row += head_dim) {
        for (size_t line = 0; line < C * 8 * sizeof(Element); line += 64)
            prefetch(row, 16 * head_dim * sizeof(Element) + line);
        F8 x[H];
        for (int h = 0; h < H; ++h)
            x[h] = set8(p.data[size_t(h) * p.stride + size_t(t - begin)]);
        for (int c = 0; c < C; ++c)
            add_products(load_exact(row + 8 * c), x, acc[c]);
    }
    for (int c = 0; c < C; ++c)
        for (int h = 0; h < H; ++h) {
            float* y = out.data + size_t(h) * out.stride + channel + 8 * size_t(c);
            store8(Add(load8(y), acc[c][h]), y);
        }
}

template <class Element, int H>
void exact_sum(const ExactTokens<Element>& v, const Probabilities& p, int begin, int end, const Sums& out) {
    constexpr int C = H <= 1 ? 8 : H <= 3 ? 4 : 2;
    size_t d = 0;
    for (; d + 8 * C <= size_t(v.head_dim); d += 8 * C)
        exact_channels<Element, C, H>(v, d, p, begin, end, out);
    for (; d < size_t(v.head_dim); d += 8)
        exact_channels<Element, 1, H>(v, d, p, begin, end, out);
}

/// Calls chunk(probabilities, queries in the chunk, sums) for all queries.
template <class F>
void for_query_chunks(int n_queries, const float* p, size_t p_stride, float* acc, size_t acc_stride, F&& chunk) {
    for (int h = 0; h < n_queries; h += kQueryChunk)
        chunk(Probabilities{p + size_t(h) * p_stride, p_stride}, std::min(n_queries - h, kQueryChunk),
              Sums{acc + size_t(h) * acc_stride, acc_stride});
}

void SumTokenGroups(const TokenGroups& v, const float* p, size_t p_stride, int n_queries, int begin, int end,
                    float* acc, size_t acc_stride) {
    for_query_chunks(n_queries, p, p_stride, acc, acc_stride, [&](const Probabilities& x, int n, const Sums& out) {
        KVASIR_FOR_BITS_AND_QUERIES(TokenGroupSum, v.bits, n, v, x, begin, end, out);
    });
}

void SumChannelGroups(const ChannelGroups& v, const float* p, size_t p_stride, int n_queries, int begin, int end,
                      float* acc, size_t acc_stride) {
    for_query_chunks(n_queries, p, p_stride, acc, acc_stride, [&](const Probabilities& x, int n, const Sums& out) {
        KVASIR_FOR_BITS_AND_QUERIES(ChannelGroupSum, v.bits, n, v, x, begin, end, out);
    });
}

template <class Element>
HWY_INLINE void sum_exact(const ExactTokens<Element>& v, const float* p, size_t p_stride, int n_queries, int begin,
                          int end, float* acc, size_t acc_stride) {
    for_query_chunks(n_queries, p, p_stride, acc, acc_stride, [&](const Probabilities& x, int n, const Sums& out) {
        KVASIR_FOR_QUERIES(exact_sum, Element, n, v, x, begin, end, out);
    });
}

void SumHalf(const ExactTokens<uint16_t>& v, const float* p, size_t p_stride, int n_queries, int begin, int end,
             float* acc, size_t acc_stride) {
    sum_exact(v, p, p_stride, n_queries, begin, end, acc, acc_stride);
}
void SumFloat(const ExactTokens<float>& v, const float* p, size_t p_stride, int n_queries, int begin, int end,
              float* acc, size_t acc_stride) {
    sum_exact(v, p, p_stride, n_queries, begin, end, acc, acc_stride);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(SumTokenGroups);
HWY_EXPORT(SumChannelGroups);
HWY_EXPORT(SumHalf);
HWY_EXPORT(SumFloat);

void weighted_sum(const TokenGroups& v, const float* p, size_t p_stride, int n_queries, int block_begin, int block_end,
                  float* acc, size_t acc_stride) {
    HWY_DYNAMIC_DISPATCH(SumTokenGroups)(v, p, p_stride, n_queries, block_begin, block_end, acc, acc_stride);
}
void weighted_sum(const ChannelGroups& v, const float* p, size_t p_stride, int n_queries, int block_begin,
                  int block_end, float* acc, size_t acc_stride) {
    HWY_DYNAMIC_DISPATCH(SumChannelGroups)(v, p, p_stride, n_queries, block_begin, block_end, acc, acc_stride);
}
void weighted_sum(const ExactTokens<uint16_t>& v, const float* p, size_t p_stride, int n_queries, int token_begin,
                  int token_end, float* acc, size_t acc_stride) {
    HWY_DYNAMIC_DISPATCH(SumHalf)(v, p, p_stride, n_queries, token_begin, token_end, acc, acc_stride);
}
void weighted_sum(const ExactTokens<float>& v, const float* p, size_t p_stride, int n_queries, int token_begin,
                  int token_end, float* acc, size_t acc_stride) {
    HWY_DYNAMIC_DISPATCH(SumFloat)(v, p, p_stride, n_queries, token_begin, token_end, acc, acc_stride);
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
