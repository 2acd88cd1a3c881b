// SPDX-License-Identifier: GPL-3.0-or-later
// Packed caches with random content, and the same attention in double precision straight from the definition of layout
// T8.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/codec/half.h"
#include "kernels/cpu/attention.h"

namespace kvasir::kernels::test {

inline std::mt19937& random_engine() {
    static std::mt19937 engine(20240607);
    return engine;
}

inline std::vector<float> normal(size_t n, float deviation = 1.0f) {
    std::normal_distribution<float> distribution(0.0f, deviation);
    std::vector<float> v(n);
    for (float& x : v)
        x = distribution(random_engine());
    return v;
}

/// Positive, summing to 1 over n values in each row.
inline std::vector<float> probabilities(int rows, int n) {
    std::vector<float> p = normal(size_t(rows) * size_t(n), 2.0f);
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += std::exp(double(p[size_t(r * n + i)]));
        for (int i = 0; i < n; ++i)
            p[size_t(r * n + i)] = float(std::exp(double(p[size_t(r * n + i)])) / sum);
    }
    return p;
}

/// A side of one head. constants_by_token: groups of `group` channels of a token, else of `group` tokens of a channel.
struct PackedSide {
    int bits, head_dim, group, n_blocks;
    bool constants_by_token;
    AffineForm form;
    std::vector<uint32_t> words;
    std::vector<uint16_t> scale, offset;
    std::vector<double> values;  // [token][head_dim]

    TokenGroups token_groups() const {
        return {bits, head_dim, group, form, words.data(), scale.data(), offset.data()};
    }
    ChannelGroups channel_groups() const {
        return {bits, head_dim, group, form, words.data(), scale.data(), offset.data()};
    }
};

inline PackedSide random_side(int bits, int head_dim, int group, int n_blocks, bool by_token, AffineForm form) {
    PackedSide side{bits, head_dim, group, n_blocks, by_token, form, {}, {}, {}, {}};
    const int n_tokens = 8 * n_blocks, n_slots = 32 / bits;
    const int packed_group = by_token ? group : head_dim;  // channels that share one run of words
    const int group_words = packed_group / n_slots, token_words = head_dim / n_slots;
    side.words.resize(size_t(n_blocks) * size_t(token_words) * 8 + kernels::kReadBeyond / sizeof(uint32_t) + 1);
    const int n_constants = by_token ? n_tokens * (head_dim / group) : (n_tokens + group - 1) / group * head_dim;
    std::uniform_real_distribution<float> positive(0.05f, 0.6f), any(-1.0f, 1.0f);
    for (int i = 0; i < n_constants; ++i) {
        side.scale.push_back(float_to_half(positive(random_engine())));
        // an offset in code units where the form multiplies it by the scale
        side.offset.push_back(float_to_half(any(random_engine()) * (form.times_scale != 0 ? float(1 << bits) : 2.0f)));
    }
    side.values.resize(size_t(n_tokens) * size_t(head_dim));
    std::uniform_int_distribution<uint32_t> codes(0, (1u << bits) - 1);
    for (int t = 0; t < n_tokens; ++t)
        for (int d = 0; d < head_dim; ++d) {
            const int g = d / packed_group, in_group = d % packed_group;
            const int j = in_group % group_words, slot = in_group / group_words;
            const uint32_t code = codes(random_engine());
            side.words[(size_t(t / 8) * size_t(token_words) + size_t(g * group_words + j)) * 8 + size_t(t % 8)] |=
                code << (bits * slot);
            const size_t constant = by_token
                                        ? (size_t(t / 8) * size_t(head_dim / group) + size_t(g)) * 8 + size_t(t % 8)
                                        : size_t(t / group) * size_t(head_dim) + size_t(d);
            const double s = double(half_to_float(side.scale[constant]));
            const double o = double(half_to_float(side.offset[constant]));
            side.values[size_t(t) * size_t(head_dim) + size_t(d)] =
                s * code + o * (double(form.plain) + double(form.times_scale) * s);
        }
    return side;
}

/// q_h . x_t and sum |q_d| max |x|, the scale of its rounding errors.
inline double reference_score(const float* q, const double* x, int head_dim, double* magnitude) {
    double score = 0, sum = 0, largest = 0;
    for (int d = 0; d < head_dim; ++d) {
        score += double(q[d]) * x[d];
        sum += std::fabs(double(q[d]));
        largest = std::fmax(largest, std::fabs(x[d]));
    }
    *magnitude = sum * largest;
    return score;
}

}  // namespace kvasir::kernels::test
