// SPDX-License-Identifier: GPL-3.0-or-later
// A small, strict reader and writer of safetensors files: dtypes U8, F16, F32, I32, the whole file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace kvasir {

enum class TensorType { u8, f16, f32, i32 };

size_t bytes_per_element(TensorType type);

/// A tensor of an open file; valid while the file object lives.
struct TensorView {
    TensorType type = TensorType::u8;
    std::vector<int64_t> shape;  ///< row-major; empty: a scalar
    const uint8_t* data = nullptr;
    size_t n_elements = 0;

    /// Elements as T, which must be as wide as the type: uint8_t, uint16_t (fp16), float, int32_t. The bytes of a file
    /// may lie at any address, so this is a copy.
    template <class T>
    std::vector<T> values() const {
        std::vector<T> out(n_elements);
        copy_to(out.data(), sizeof(T));
        return out;
    }

 private:
    void copy_to(void* out, size_t element_size) const;
};

class SafetensorsFile {
 public:
    /// Refuses a header with duplicate names, unknown dtypes, gaps, overlaps or lengths that do not match the shapes.
    static Result<SafetensorsFile> open(const std::string& path);
    static Result<SafetensorsFile> parse(std::string bytes, const std::string& name);

    const std::map<std::string, TensorView>& tensors() const { return tensors_; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    /// The tensor, or an error that names the nearest facts: what the file holds.
    Result<TensorView> tensor(const std::string& name) const;

 private:
    std::string name_;
    std::shared_ptr<const std::string> bytes_;  ///< shared: copies of this object show the same memory
    std::map<std::string, TensorView> tensors_;
    std::map<std::string, std::string> metadata_;
};

/// A tensor to be written.
struct TensorOut {
    std::string name;
    TensorType type;
    std::vector<int64_t> shape;
    const void* data;  ///< product(shape) elements
};

/// The bytes of a file with the tensors in the given order, data aligned to 8 bytes. Names must differ.
std::string safetensors_bytes(const std::vector<TensorOut>& tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace kvasir
