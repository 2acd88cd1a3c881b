// SPDX-License-Identifier: GPL-3.0-or-later
// The type ids of GGUF files: ggml tensor types and metadata value types.
#pragma once

#include <cstdint>

namespace kvasir {

/// A ggml tensor type: `block` elements of a row are stored together in `bytes` bytes.
struct GgmlType {
    uint32_t id;
    const char* name;
    uint32_t block;
    uint32_t bytes;
};

/// nullptr for ids that no longer exist or never did.
const GgmlType* find_ggml_type(uint32_t id);

/// Ids of the types the forward pass reads.
namespace ggml_type {
inline constexpr uint32_t f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, bf16 = 30;
}

/// Metadata value types.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr uint32_t kGgufTypes = 13;

const char* gguf_type_name(GgufType type);
/// Bytes of one value; of a string the least it takes (its length); 0 for an array.
uint32_t gguf_type_bytes(GgufType type);
/// Any of the eight integer types.
bool is_integer(GgufType type);

}  // namespace kvasir
