// SPDX-License-Identifier: GPL-3.0-or-later
// A GGUF file (v2, v3), read without trusting a single length in it.
//
// Nothing is mapped: a mapping shows what another program writes into the file, and ends this one with SIGBUS when the
// file gets shorter. The head lies in memory of our own, tensors are copied with pread from the file that was opened,
// whatever its name points to by then. Writing changes a file's times, so whoever has read asks unchanged() afterwards:
// all that was read then belongs to one state of the file, and sha256() is of that state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"

namespace kvasir {

struct GgufTensor {
    std::string name;
    uint32_t type = 0;           ///< ggml type id
    std::vector<uint64_t> dims;  ///< dims[0] is the row length
    uint64_t n_bytes = 0;
    uint64_t at = 0;  ///< where its data begins in the file
};

/// Name of a ggml tensor type id, e.g. "Q4_1"; "type 77" when unknown.
std::string ggml_type_name(uint32_t type);

class GgufFile {
 public:
    static Result<std::shared_ptr<const GgufFile>> open(const std::string& path);
    ~GgufFile();

    const std::string& path() const;
    uint32_t version() const;
    uint64_t file_bytes() const;
    const std::vector<GgufTensor>& tensors() const;
    const GgufTensor* tensor(std::string_view name) const;  ///< nullptr when absent
    /// Copies bytes [first, first + n) of a tensor's data; refuses where the file has become too short.
    Status read(const GgufTensor& tensor, uint64_t first, size_t n, uint8_t* out) const;
    /// Of the whole file as it is now behind the opened descriptor.
    Result<std::string> sha256(const CancelCheck& cancelled = {}) const;
    /// Refuses when the file that was opened has been written to since, or when path() no longer names it.
    Status unchanged() const;

    bool has(std::string_view key) const;
    Result<std::string_view> string(std::string_view key) const;
    /// Any integer type; refuses floats, strings and values outside [lo, hi].
    Result<int64_t> integer(std::string_view key, int64_t lo, int64_t hi) const;
    Result<double> real(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key) const;
    /// Elements of a list of strings; 0 when the key is absent or something else.
    uint64_t string_count(std::string_view key) const;
    Result<std::vector<std::string_view>> strings(std::string_view key) const;
    /// i32 or u32 elements.
    Result<std::vector<int32_t>> integers(std::string_view key) const;
    /// f32 elements, or the i32 that some converters write.
    Result<std::vector<float>> reals(std::string_view key) const;

    /// Every key with its value as short text (arrays: element type and count), for `inspect`.
    std::vector<std::pair<std::string, std::string>> describe_metadata() const;
    /// Odd but legal things found while opening.
    const std::vector<std::string>& warnings() const;
    /// The refusal of this file for one stated fact, worded like all others.
    Error refusal(std::string why, std::string hint = {}) const;

 private:
    struct Impl;
    explicit GgufFile(std::unique_ptr<Impl> impl);
    static Result<std::shared_ptr<const GgufFile>> open_or_throw(const std::string& path);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvasir
