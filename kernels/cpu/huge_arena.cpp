// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/huge_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "kernels/cpu/attention.h"

namespace kvasir::kernels {

namespace {

constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kAlign = 64;

size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

}  // namespace

uint8_t* map_huge(size_t bytes) {
    const size_t size = round_up(std::max<size_t>(bytes, 1), kHugePage);
    void* const raw =
        mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    auto* const start = static_cast<uint8_t*>(raw);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (before) munmap(start, before);
    if (before < kHugePage) munmap(start + before + size, kHugePage - before);
#if defined(MADV_HUGEPAGE)
    madvise(start + before, size, MADV_HUGEPAGE);  // only advice: refusal leaves small pages
#endif
    return start + before;
}

void unmap_huge(uint8_t* p, size_t bytes) {
    if (p) munmap(p, round_up(std::max<size_t>(bytes, 1), kHugePage));
}

// Under the address sanitizer every piece is a heap block of its own, so that running over its end is seen.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSharedChunks = false;

static uint8_t* take_chunk(size_t bytes) {
    void* p = nullptr;
    if (posix_memalign(&p, kAlign, bytes) != 0) return nullptr;
    std::memset(p, 0, bytes);
    return static_cast<uint8_t*>(p);
}
static void give_chunk_back(uint8_t* p, size_t /*bytes*/) {
    std::free(p);
}
#else
constexpr bool kSharedChunks = true;

static uint8_t* take_chunk(size_t bytes) {
    return map_huge(bytes);
}
static void give_chunk_back(uint8_t* p, size_t bytes) {
    unmap_huge(p, bytes);
}
#endif

struct HugeArena::Chunk {
    HugeArena* arena;
    uint8_t* memory;
    size_t size, used;
    int pieces;
};

// Stored in the kAlign bytes in front of each piece.
struct HugeArena::Header {
    Chunk* chunk;
    size_t bytes;
};

uint8_t* HugeArena::allocate(size_t bytes) {
    if (bytes > SIZE_MAX / 2) throw std::bad_alloc();  // a product that wrapped around
    const std::lock_guard lock(mutex_);
    bytes = round_up(bytes, kAlign);
    uint8_t* const piece = cut(bytes + kAlign);
    const Header header{open_, bytes};
    std::memcpy(piece, &header, sizeof header);
    in_use_ += bytes;
    return piece + kAlign;
}

size_t HugeArena::bytes_in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use_;
}

/// Room from the open chunk, or from a new one that is open then.
uint8_t* HugeArena::cut(size_t bytes) {
    const size_t needed = bytes + kReadBeyond;  // behind the last piece of a chunk; others have one behind them
    if (!kSharedChunks || !open_ || open_->size - open_->used < needed) {
        const size_t size = kSharedChunks ? std::max(chunk_bytes_, round_up(needed, kHugePage)) : needed;
        auto chunk = std::make_unique<Chunk>(Chunk{this, nullptr, size, 0, 0});
        chunk->memory = take_chunk(size);
        if (!chunk->memory) throw std::bad_alloc();
        open_ = chunk.release();
    }
    uint8_t* const piece = open_->memory + open_->used;
    open_->used += bytes;
    ++open_->pieces;
    return piece;
}

void HugeArena::release(uint8_t* piece) {
    if (!piece) return;
    Header header;
    std::memcpy(&header, piece - kAlign, sizeof header);
    header.chunk->arena->drop(header);
}

void HugeArena::drop(const Header& header) {
    const std::lock_guard lock(mutex_);
    Chunk* const chunk = header.chunk;
    in_use_ -= header.bytes;
    if (--chunk->pieces > 0) return;
    if (chunk == open_) open_ = nullptr;  // its memory is not zero any more
    give_chunk_back(chunk->memory, chunk->size);
    delete chunk;
}

HugeArena& weight_arena() {
    static HugeArena& arena = *new HugeArena(size_t(32) << 20);
    return arena;
}

HugeArena& cache_arena() {
    static HugeArena& arena = *new HugeArena(size_t(8) << 20);
    return arena;
}

}  // namespace kvasir::kernels
