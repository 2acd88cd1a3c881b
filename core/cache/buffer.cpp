// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace kvasir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// A mapping of n bytes (a multiple of the huge page) that starts on a huge page.
void* map_huge(size_t n) {
    char* raw = static_cast<char*>(
        mmap(nullptr, n + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (raw == MAP_FAILED) throw std::bad_alloc();
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(raw) % kHugePage) % kHugePage;
    if (before) munmap(raw, before);
    if (before < kHugePage) munmap(raw + before + n, kHugePage - before);
    madvise(raw + before, n, MADV_HUGEPAGE);  // a wish: refused is as good as not asked
    return raw + before;
}

}  // namespace

ZeroedBytes::ZeroedBytes(size_t n) {
    if (n == 0) return;
    if (n >= kHugePage) {
        mapped_ = (n + kHugePage - 1) / kHugePage * kHugePage;
        data_ = map_huge(mapped_);
        return;
    }
    const size_t rounded = (n + 63) / 64 * 64;
    data_ = std::aligned_alloc(64, rounded);
    if (!data_) throw std::bad_alloc();
    std::memset(data_, 0, rounded);
}

ZeroedBytes::~ZeroedBytes() {
    if (mapped_) {
        munmap(data_, mapped_);
    } else {
        std::free(data_);
    }
}

}  // namespace kvasir
