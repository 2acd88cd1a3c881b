// SPDX-License-Identifier: GPL-3.0-or-later
// Codes of one token to and from the words of layout T8 (kernels/cpu/attention.h): word j, slot s holds code
// s * n_words + j at bit bits * s.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir {

/// n_words * 32 / bits codes -> words, `stride` apart.
inline void pack_words(const uint8_t* codes, int n_words, int bits, uint32_t* words, size_t stride) {
    constexpr int kAtOnce = 16;
    for (int first = 0; first < n_words; first += kAtOnce) {
        const int n = n_words - first < kAtOnce ? n_words - first : kAtOnce;
        uint32_t part[kAtOnce] = {};
        for (int s = 0; s < 32 / bits; ++s)
            for (int j = 0; j < n; ++j)
                part[j] |= uint32_t(codes[s * n_words + first + j]) << (bits * s);
        for (int j = 0; j < n; ++j)
            words[size_t(first + j) * stride] = part[j];
    }
}

/// The way back.
inline void unpack_words(const uint32_t* words, size_t stride, int n_words, int bits, uint8_t* codes) {
    constexpr int kAtOnce = 16;
    const uint32_t mask = (1u << bits) - 1;
    for (int first = 0; first < n_words; first += kAtOnce) {
        const int n = n_words - first < kAtOnce ? n_words - first : kAtOnce;
        uint32_t part[kAtOnce];
        for (int j = 0; j < n; ++j)
            part[j] = words[size_t(first + j) * stride];
        for (int s = 0; s < 32 / bits; ++s)
            for (int j = 0; j < n; ++j)
                codes[s * n_words + first + j] = uint8_t(part[j] >> (bits * s) & mask);
    }
}

}  // namespace kvasir
