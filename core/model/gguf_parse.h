// SPDX-License-Identifier: GPL-3.0-or-later
// The byte-level part of reading GGUF: every count and length is compared with the bytes left before it is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gguf.h"
#include "core/model/gguf_types.h"

namespace kvasir {

/// One key of the metadata; `value` points at the value's bytes in the head (of an array: at its first element).
struct GgufEntry {
    std::string_view key;
    GgufType type = GgufType::u8;
    GgufType element = GgufType::u8;  ///< of an array
    uint64_t count = 1;               ///< elements of an array
    const uint8_t* value = nullptr;
};

struct GgufContents {
    uint32_t version = 0;
    std::vector<GgufEntry> entries;   ///< in file order, keys unique
    std::vector<GgufTensor> tensors;  ///< in file order, names unique, data inside the file, no overlap
    std::vector<std::string> warnings;
};

/// Fills `out` from the first bytes of a file of file_bytes; returns "" or the one fact that makes the file unreadable.
/// Sets `more` where only a longer head could tell: then neither the result nor `out` says anything.
std::string parse_gguf(std::span<const uint8_t> head, uint64_t file_bytes, GgufContents& out, bool& more);
/// The same for a whole file.
std::string parse_gguf(std::span<const uint8_t> file, GgufContents& out);

/// Little-endian value at p, which needs no alignment.
template <class T>
T read_le(const uint8_t* p) {
    T value;
    __builtin_memcpy(&value, p, sizeof(T));
    return value;
}

/// The string whose length field stands at p; checked while parsing.
inline std::string_view gguf_string_at(const uint8_t* p) {
    return {reinterpret_cast<const char*>(p) + 8, size_t(read_le<uint64_t>(p))};
}

}  // namespace kvasir
