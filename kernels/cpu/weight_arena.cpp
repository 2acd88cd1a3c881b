// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/weight_arena.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kvasir::kernels {

namespace {

constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kChunk = size_t(32) << 20;
constexpr size_t kAlign = 64;

size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

struct Chunk {
    uint8_t* memory = nullptr;
    size_t size = 0, used = 0;
    int users = 0;
};

std::mutex arena_mutex;
Chunk* open_chunk = nullptr;  // the one that still has room; guarded by arena_mutex, as all counts are

// Stored in the kAlign bytes in front of each piece.
struct Header {
    Chunk* chunk;
};

void release(Chunk* chunk) {
    free_huge(chunk->memory);
    delete chunk;
}

}  // namespace

uint8_t* allocate_huge(size_t bytes) {
    const size_t size = round_up(std::max<size_t>(bytes, 1), kHugePage);
    void* p = std::aligned_alloc(kHugePage, size);
#if defined(__linux__)
    if (p) madvise(p, size, MADV_HUGEPAGE);  // only advice: refusal leaves small pages
#endif
    return static_cast<uint8_t*>(p);
}

void free_huge(uint8_t* p) {
    std::free(p);
}

uint8_t* allocate_weights(size_t bytes) {
    const size_t need = round_up(bytes, kAlign) + kAlign;
    const std::lock_guard lock(arena_mutex);
    if (!open_chunk || open_chunk->size - open_chunk->used < need) {
        if (open_chunk && open_chunk->users == 0) release(open_chunk);
        open_chunk = new Chunk;
        open_chunk->size = std::max(kChunk, round_up(need, kHugePage));
        open_chunk->memory = allocate_huge(open_chunk->size);
        if (!open_chunk->memory) {
            std::fprintf(stderr, "kvasir: out of memory for %zu bytes of weights\n", bytes);
            std::abort();
        }
    }
    uint8_t* const piece = open_chunk->memory + open_chunk->used;
    open_chunk->used += need;
    ++open_chunk->users;
    const Header header{open_chunk};
    std::memcpy(piece, &header, sizeof header);
    return piece + kAlign;
}

void free_weights(uint8_t* p) {
    if (!p) return;
    Header header;
    std::memcpy(&header, p - kAlign, sizeof header);
    const std::lock_guard lock(arena_mutex);
    if (--header.chunk->users > 0) return;
    if (header.chunk == open_chunk) open_chunk = nullptr;
    release(header.chunk);
}

}  // namespace kvasir::kernels
