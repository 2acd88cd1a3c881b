// SPDX-License-Identifier: GPL-3.0-or-later
// Zeroed memory of fixed size, cut from huge pages where the system gives them: attention reads it from end to end.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace kvasir {

/// Owns zeroed bytes, 64-byte aligned; throws std::bad_alloc.
class ZeroedBytes {
 public:
    ZeroedBytes() = default;
    explicit ZeroedBytes(size_t n);
    ~ZeroedBytes();
    ZeroedBytes(ZeroedBytes&& o) noexcept { swap(o); }
    ZeroedBytes& operator=(ZeroedBytes&& o) noexcept {
        swap(o);
        return *this;
    }
    void* data() const { return data_; }

 private:
    void swap(ZeroedBytes& o) { std::swap(data_, o.data_); }
    void* data_ = nullptr;
};

template <class T>
class Buffer {
    static_assert(std::is_trivial_v<T>);

 public:
    Buffer() = default;
    explicit Buffer(size_t n) : bytes_(n * sizeof(T)), size_(n) {}
    T* data() { return static_cast<T*>(bytes_.data()); }
    const T* data() const { return static_cast<const T*>(bytes_.data()); }
    T& operator[](size_t i) { return data()[i]; }
    const T& operator[](size_t i) const { return data()[i]; }
    size_t size() const { return size_; }

 private:
    ZeroedBytes bytes_;
    size_t size_ = 0;
};

}  // namespace kvasir
