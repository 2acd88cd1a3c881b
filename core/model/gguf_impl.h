// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/gguf.h"
#include "core/model/gguf_parse.h"

namespace kvasir {

struct GgufFile::Impl {
    Impl() = default;
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    const GgufEntry* find(std::string_view key) const {
        const auto it = entry_of.find(key);
        return it == entry_of.end() ? nullptr : &contents.entries[it->second];
    }

    std::string path;
    int file = -1;              ///< descriptor, open as long as this lives
    struct stat opened {};      ///< as the file was when it was opened
    std::vector<uint8_t> head;  ///< its first bytes, everything before the tensors' data
    GgufContents contents;
    std::unordered_map<std::string_view, size_t> entry_of;   ///< keys lie in head
    std::unordered_map<std::string_view, size_t> tensor_of;  ///< names lie in contents.tensors
};

}  // namespace kvasir
