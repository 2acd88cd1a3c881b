// SPDX-License-Identifier: GPL-3.0-or-later
// The codecs of kernels/codec over many groups, compiled for the machine's instruction set: the same operations on
// every value, so the same codes and constants to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir::kernels {

/// How a group of values becomes codes and constants; the functions of the same names say it.
enum class GroupEncoding {
    affine,          ///< affine_encode
    affine_f32,      ///< affine_encode_f32
    affine_integer,  ///< affine_encode_integer
    ternary,         ///< ternary_encode; no offset
    ggml_q8,         ///< ggml_encode_q8; no offset
    ggml_symmetric,  ///< ggml_encode_symmetric; no offset
    ggml_offset      ///< ggml_encode_offset
};

struct GroupEncoder {
    GroupEncoding encoding;
    int bits;
    float least_range = 0;  ///< affine
    float offset_sign = 1;  ///< affine: the stored offset is this times the minimum
};

/// x (n_groups, group) -> codes of the same shape, scale and offset (n_groups) fp16; offset may be null where the
/// encoding has none.
void encode_groups(const GroupEncoder& how, const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                   uint16_t* offset);

/// Values of a group that groups_rest has room for.
constexpr int kLargestRestingGroup = 1024;
/// Whether groups_rest can answer for groups of this size.
bool knows_rest(const GroupEncoder& how, int group);
/// True when coding the dequantized values (affine_value) of these groups again gives the same codes and constants.
bool groups_rest(const GroupEncoder& how, const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                 const uint16_t* offset);

}  // namespace kvasir::kernels
