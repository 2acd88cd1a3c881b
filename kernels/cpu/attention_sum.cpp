// SPDX-License-Identifier: GPL-3.0-or-later
// p.V from packed codes: lanes are tokens, so a channel costs one multiply-add per 8 tokens and a share in one
// transposed sum per range. 4 slots of a word x the queries of a chunk are accumulated together. Exact values are rows:
// lanes are channels.
#include <algorithm>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_layout.h"
#include "kernels/cpu/fetch_ahead.h"
#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_sum.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Most blocks of a piece.
constexpr int kPieceBlocks = 64;

/// Blocks of a piece, whose codes, weights and the next piece's codes fit the first-level cache.
constexpr int piece_blocks(size_t block_bytes) {
    return std::clamp(int(kSumPieceBytes / block_bytes), 8, kPieceBlocks);
}

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

/// Probabilities times scale for one piece and group: [block][query][8 tokens].
template <int H>
struct Weights {
    alignas(64) float p[kPieceBlocks * H * 8];
};

/// Sums of a whole range before the horizontal ones: [channel in order of words and slots][query], and of what does not
/// depend on the code, [group][query].
template <int H>
struct Lanes {
    alignas(64) float channel[kMaxHeadDim * H * 8];
    alignas(64) float offset[kMaxHeadDim * H * 2];  // groups have 4 channels at least
    float* at(size_t place) { return channel + place * H * 8; }
};

template <int H>
HWY_INLINE void load_lanes(const float* from, F8 (&to)[H]) {
    for (int h = 0; h < H; ++h)
        to[h] = load8(from + 8 * h);
}

template <int H>
HWY_INLINE void store_lanes(const F8 (&from)[H], float* to) {
    for (int h = 0; h < H; ++h)
        store8(from[h], to + 8 * h);
}

template <int H>
HWY_INLINE void token_group_weights(const TokenGroups& v, int group, const Probabilities& p, int block, int n_blocks,
                                    Weights<H>& w, Lanes<H>& sums) {
    const size_t n_groups = size_t(v.head_dim / v.group);
    const F8 plain = set8(v.form.plain), times_scale = set8(v.form.times_scale);
    F8 offset[H];
    load_lanes(sums.offset + size_t(group) * H * 8, offset);
    const auto fetch = [&](const uint16_t* constants, size_t at) {
        if (constants) FetchAhead(constants + at, kConstantsAhead).next(1);
    };
    for (int b = 0; b < n_blocks; ++b) {
        const size_t at = (size_t(block + b) * n_groups + size_t(group)) * 8;
        fetch(v.scale, at);
        fetch(v.offset, at);
        const F8 s = load_half8(v.scale + at);
        const F8 o = group_offset(v.offset, at, s, plain, times_scale);
        for (int h = 0; h < H; ++h) {
            const F8 x = load8(p.data + size_t(h) * p.stride + 8 * size_t(b));
            store8(Mul(x, s), w.p + (b * H + h) * 8);
            offset[h] = MulAdd(x, o, offset[h]);
        }
    }
    store_lanes(offset, sums.offset + size_t(group) * H * 8);
}

template <int H>
HWY_INLINE void add_products(F8 value, const F8 (&x)[H], F8 (&acc)[H]) {
    for (int h = 0; h < H; ++h)
        acc[h] = MulAdd(value, x[h], acc[h]);
}

/// Slots of a word that lie in one of its bytes.
constexpr int slots_per_byte(int bits) {
    return 8 / bits;
}

/// acc of slots [first, first + C): 0 in the first piece, else what the piece before left at `place`.
template <int C, int H>
HWY_INLINE void load_slots(bool first_piece, const float* place, F8 (&acc)[C][H]) {
    if (first_piece) {
        clear(acc);
        return;
    }
    for (int i = 0; i < C; ++i)
        load_lanes(place + i * H * 8, acc[i]);
}

/// acc[i][h] += sum over blocks of slot i of those that begin at slot kFirst of the byte at `codes`, times p, times
/// 2^(kBits * (its place in its byte)). Words lie in little-endian order: what is read beyond a word is masked away.
/// `ahead` walks through the next piece meanwhile, in the order of addresses: a word is passed 32 / kBits / C times,
/// and each pass asks for its share.
template <int kBits, int kFirst, int H, int... kIndex>
HWY_INLINE void add_slots_of_blocks(const uint8_t* HWY_RESTRICT codes, size_t block_bytes, FetchAhead& ahead,
                                    const float* HWY_RESTRICT p, int n_blocks, F8 (&acc)[sizeof...(kIndex)][H],
                                    std::integer_sequence<int, kIndex...>) {
    constexpr int kInByte = slots_per_byte(kBits), kShare = int(sizeof...(kIndex)) * kBits;
    for (int b = 0; b < n_blocks; ++b, codes += block_bytes, p += 8 * H) {
        ahead.next(kShare);
        F8 x[H];
        for (int h = 0; h < H; ++h)
            x[h] = load8(p + 8 * h);
        // One value at a time: 12 accumulators and 3 weights leave one register.
        (add_products(
             slot_value<kBits, (kFirst + kIndex) % kInByte>(load_bytes_u8(codes + (kFirst + kIndex) / kInByte)), x,
             acc[kIndex]),
         ...);
    }
}

/// out += the horizontal sums of `n` channels from `first` on, at most eight. What slot_value left on a channel is
/// undone here.
template <int kBits, int H>
HWY_INLINE void add_eight_lanes(Lanes<H>& sums, size_t first, size_t n, size_t group, const Sums& out) {
    constexpr size_t kSlots = 32 / kBits;
    const size_t group_words = group / kSlots;
    const float* from[8];
    F8 factor[8];
    for (size_t i = 0; i < n; ++i) {
        const size_t g = (first + i) / group, inside = (first + i) % group;
        const size_t slot = inside / group_words, word = g * group_words + inside % group_words;
        from[i] = sums.at(word * kSlots + slot);
        factor[i] = set8(slot_factor(kBits, int(slot) % slots_per_byte(kBits)));
    }
    for (size_t h = 0; h < H; ++h) {
        F8 v[8];
        for (size_t i = 0; i < n; ++i)
            v[i] = Mul(load8(from[i] + 8 * h), factor[i]);
        for (size_t i = n; i < 8; ++i)
            v[i] = zero8();
        float* y = out.data + h * out.stride + first;
        store8(Add(load8(y), sums8(v)), y);
    }
}

template <int kBits, int H>
HWY_INLINE void add_lanes(Lanes<H>& sums, size_t head_dim, size_t group, const Sums& out) {
    const size_t whole = head_dim / 8 * 8;
    for (size_t first = 0; first < whole; first += 8)
        add_eight_lanes<kBits, H>(sums, first, 8, group, out);
    if (whole < head_dim) add_eight_lanes<kBits, H>(sums, whole, head_dim - whole, group, out);
}

/// Calls pass(first slot, where its byte lies in the word, its place there as a constant) for every C slots of a word.
template <int kBits, int C, class F>
HWY_INLINE void for_slots(F&& pass) {
    constexpr int kInByte = slots_per_byte(kBits), kBytes = std::max(C / kInByte, 1);
    for (int byte = 0, first = 0; byte < 4; byte += kBytes) {
        pass(first, byte, std::integral_constant<int, 0>());
        first += C;
        if constexpr (C < kInByte) pass(first, byte, std::integral_constant<int, C % kInByte>()), first += C;
        if constexpr (2 * C < kInByte) {
            pass(first, byte, std::integral_constant<int, 2 * C % kInByte>()), first += C;
            pass(first, byte, std::integral_constant<int, 3 * C % kInByte>()), first += C;
        }
    }
}

template <int kBits, int H>
void TokenGroupSum(const TokenGroups& v, const Probabilities& p, int begin, int end, const Sums& out) {
    if (begin == end) return;
    constexpr int kSlots = 32 / kBits, C = slots_at_once(H);
    const size_t group_words = size_t(v.group / kSlots), block_words = size_t(v.head_dim / kSlots) * 8;
    const int n_groups = v.head_dim / v.group;
    Weights<H> w;
    Lanes<H> sums;
    std::fill_n(sums.offset, size_t(n_groups) * H * 8, 0.0f);
    const int most = piece_blocks(4 * block_words);
    for (int block = begin; block < end; block += most) {
        const int n_blocks = std::min(end - block, most);
        const Probabilities piece{p.data + 8 * size_t(block - begin), p.stride};
        const uint32_t* words = v.words + size_t(block) * block_words;
        FetchAhead ahead(words + size_t(n_blocks) * block_words, 0);
        float* place = sums.channel;
        for (int g = 0; g < n_groups; ++g) {
            token_group_weights<H>(v, g, piece, block, n_blocks, w, sums);
            for (size_t j = 0; j < group_words; ++j, words += 8)
                for_slots<kBits, C>([&](int, int byte, auto in_byte) {
                    F8 acc[C][H];
                    load_slots(block == begin, place, acc);
                    add_slots_of_blocks<kBits, in_byte(), H>(reinterpret_cast<const uint8_t*>(words) + byte,
                                                             4 * block_words, ahead, w.p, n_blocks, acc,
                                                             std::make_integer_sequence<int, C>());
                    for (int i = 0; i < C; ++i)
                        store_lanes(acc[i], place + i * H * 8);
                    place += C * H * 8;
                });
        }
    }
    add_lanes<kBits, H>(sums, size_t(v.head_dim), size_t(v.group), out);
    for (int g = 0; g < n_groups; ++g)
        for (int h = 0; h < H; ++h) {
            const float offset = sum8(load8(sums.offset + (g * H + h) * 8));
            float* y = out.data + size_t(h) * out.stride + size_t(g) * size_t(v.group);
            for (int d = 0; d < v.group; ++d)
                y[d] += offset;
        }
}

/// Scales of the groups that blocks [begin, end) touch, [group][channel].
HWY_INLINE void channel_scales(const ChannelGroups& v, int begin, int end, float* scales) {
    const int group_blocks = v.group / 8;
    const uint16_t* scale = v.scale + size_t(begin / group_blocks) * size_t(v.head_dim);
    for (int group = begin / group_blocks; group <= (end - 1) / group_blocks; ++group)
        for (int d = 0; d < v.head_dim; d += 8, scale += 8, scales += 8)
            store8(load_half8(scale), scales);
}

/// One word of all blocks for ChannelGroups: the scale of a channel is a constant for `group_blocks` blocks, so each
/// such piece is summed by itself and added with its scale.
template <int kBits, int kInByte, int H>
HWY_INLINE void channel_group_slots(const ChannelGroups& v, size_t word, int first, int byte, const float* scales,
                                    const float* p, int begin, int end, FetchAhead& ahead, float* place) {
    constexpr int C = slots_at_once(H);
    const size_t n_words = size_t(v.head_dim) * kBits / 32, block_words = n_words * 8;
    const int group_blocks = v.group / 8;
    for (int b = begin; b < end; scales += v.head_dim) {
        const int stop = std::min(end, (b / group_blocks + 1) * group_blocks);
        F8 acc[C][H];
        clear(acc);
        const auto* codes = reinterpret_cast<const uint8_t*>(v.words + size_t(b) * block_words + 8 * word) + byte;
        add_slots_of_blocks<kBits, kInByte, H>(codes, 4 * block_words, ahead, p + size_t(b - begin) * H * 8, stop - b,
                                               acc, std::make_integer_sequence<int, C>());
        for (int i = 0; i < C; ++i) {
            const F8 scale = set8(scales[size_t(first + i) * n_words + word]);
            F8 total[H];
            load_lanes(place + i * H * 8, total);
            for (int h = 0; h < H; ++h)
                total[h] = MulAdd(acc[i][h], scale, total[h]);
            store_lanes(total, place + i * H * 8);
        }
        b = stop;
    }
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
    constexpr int kSlots = 32 / kBits, C = slots_at_once(H);
    const size_t block_words = size_t(v.head_dim / kSlots) * 8;
    Weights<H> w;
    Lanes<H> sums;
    thread_local std::vector<float> scales;
    scales.resize(size_t(v.head_dim) * size_t(kPieceBlocks * 8 / v.group + 2));
    std::fill_n(sums.channel, size_t(v.head_dim) * H * 8, 0.0f);
    const int most = piece_blocks(4 * block_words);
    for (int block = begin; block < end; block += most) {
        const int stop = std::min(end, block + most);
        FetchAhead ahead(v.words + size_t(stop) * block_words, 0);
        for (int b = block; b < stop; ++b)
            for (int h = 0; h < H; ++h)
                store8(load8(p.data + size_t(h) * p.stride + 8 * size_t(b - begin)), w.p + ((b - block) * H + h) * 8);
        channel_scales(v, block, stop, scales.data());
        for (size_t j = 0; j < size_t(v.head_dim) / kSlots; ++j)
            for_slots<kBits, C>([&](int first, int byte, auto in_byte) {
                channel_group_slots<kBits, in_byte(), H>(v, j, first, byte, scales.data(), w.p, block, stop, ahead,
                                                         sums.at(j * kSlots + size_t(first)));
            });
        add_channel_offsets<H>(v, w.p, block, stop, out);
    }
    add_lanes<kBits, H>(sums, size_t(v.head_dim), size_t(v.head_dim), out);
}

/// Channels [channel, channel + 8 C) of exact rows; `ahead` walks through later rows, each pass asking for its share.
template <class Element, int C, int H>
HWY_INLINE void exact_channels(const ExactTokens<Element>& v, size_t channel, const Probabilities& p, int begin,
                               int end, FetchAhead& ahead, const Sums& out) {
    constexpr size_t kShare = C * 8 * sizeof(Element);
    const size_t head_dim = size_t(v.head_dim);
    const auto place = [&](int c, int h) { return out.data + size_t(h) * out.stride + channel + 8 * size_t(c); };
    F8 acc[C][H];
    for (int c = 0; c < C; ++c)
        for (int h = 0; h < H; ++h)
            acc[c][h] = load8(place(c, h));
    const Element* row = v.data + size_t(begin) * head_dim + channel;
    for (int t = begin; t < end; ++t, row += head_dim) {
        ahead.next(kShare);
        F8 x[H];
        for (int h = 0; h < H; ++h)
            x[h] = set8(p.data[size_t(h) * p.stride + size_t(t - begin)]);
        for (int c = 0; c < C; ++c)
            add_products(load_exact(row + 8 * c), x, acc[c]);
    }
    for (int c = 0; c < C; ++c)
        for (int h = 0; h < H; ++h)
            store8(acc[c][h], place(c, h));
}

/// Rows are passed once for every C channels: in pieces that fit the first-level cache, so that memory sees one pass.
template <class Element, int H>
void exact_sum(const ExactTokens<Element>& v, const Probabilities& p, int begin, int end, const Sums& out) {
    constexpr int C = H <= 1 ? 8 : H <= 3 ? 4 : 2;
    const size_t head_dim = size_t(v.head_dim), row_bytes = head_dim * sizeof(Element);
    const int most = std::max(int(kSumPieceBytes / row_bytes), 1);
    for (int t = begin; t < end; t += most) {
        const int stop = std::min(end, t + most);
        const Probabilities piece{p.data + (t - begin), p.stride};
        FetchAhead ahead(v.data + size_t(t) * head_dim);
        size_t d = 0;
        for (; d + 8 * C <= head_dim; d += 8 * C)
            exact_channels<Element, C, H>(v, d, piece, t, stop, ahead, out);
        for (; d < head_dim; d += 8)
            exact_channels<Element, 1, H>(v, d, piece, t, stop, ahead, out);
    }
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

namespace {

template <class Groups>
void fetch_words(const Groups& v, int block) {
    FetchAhead(v.words + size_t(block) * size_t(v.head_dim * v.bits / 32) * 8, 0).next(kSumPieceBytes);
}

template <class Element>
void fetch_rows(const ExactTokens<Element>& v, int token) {
    FetchAhead(v.data + size_t(token) * size_t(v.head_dim), 0).next(kFetchAhead);
}

}  // namespace

void fetch_values(const TokenGroups& v, int block) {
    const size_t constants = size_t(block) * size_t(v.head_dim / v.group) * 8;
    FetchAhead(v.scale + constants, 0).next(kConstantsAhead);
    if (v.offset) FetchAhead(v.offset + constants, 0).next(kConstantsAhead);
    fetch_words(v, block);
}
void fetch_values(const ChannelGroups& v, int block) {
    fetch_words(v, block);
}
void fetch_values(const ExactTokens<uint16_t>& v, int token) {
    fetch_rows(v, token);
}
void fetch_values(const ExactTokens<float>& v, int token) {
    fetch_rows(v, token);
}

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
