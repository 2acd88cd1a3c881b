// SPDX-License-Identifier: GPL-3.0-or-later
// Codes of 1 to 8 bits one behind the other, the first one in the lowest bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir {

/// Puts a code at a place whose bits are zero.
inline void put_bits(uint8_t* bytes, size_t first_bit, unsigned code) {
    const unsigned window = code << (first_bit % 8);
    bytes[first_bit / 8] |= uint8_t(window);
    if (window > 0xff) bytes[first_bit / 8 + 1] |= uint8_t(window >> 8);
}

/// PRECONDITION: the byte behind the code's first one can be read.
inline uint8_t get_bits(const uint8_t* bytes, size_t first_bit, int n_bits) {
    const unsigned window = bytes[first_bit / 8] | unsigned(bytes[first_bit / 8 + 1]) << 8;
    return uint8_t(window >> (first_bit % 8) & ((1u << n_bits) - 1));
}

}  // namespace kvasir
