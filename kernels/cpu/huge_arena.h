// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that is read from end to end in every step, on huge pages: with 4 KiB pages about a fifth of the read
// bandwidth goes into address translation, and more in a virtual machine. Weights and caches are many pieces, most of
// them smaller than a huge page, so pieces are cut from large chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace kvasir::kernels {

/// Zeroed pages of the system, untouched until they are written, aligned to 2 MiB; null when there are none.
uint8_t* map_huge(size_t bytes);
/// Gives back what map_huge(bytes) returned; null is fine.
void unmap_huge(uint8_t* p, size_t bytes);

class HugeArena {
 public:
    /// Pieces are cut from chunks of `chunk_bytes`; a larger piece has a chunk of its own.
    explicit HugeArena(size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}
    HugeArena(const HugeArena&) = delete;
    HugeArena& operator=(const HugeArena&) = delete;

    /// A zeroed piece, 64-byte aligned; what kernels read beyond it (kReadBeyond) is readable. Throws std::bad_alloc.
    /// Thread-safe.
    uint8_t* allocate(size_t bytes);
    /// Gives a piece back; null is fine. The system gets a chunk back with its last piece. Thread-safe.
    static void release(uint8_t* piece);

    /// Of all pieces, each rounded up to 64 bytes.
    size_t bytes_in_use() const;

 private:
    struct Chunk;
    struct Header;
    uint8_t* cut(size_t bytes);
    void drop(const Header& header);

    const size_t chunk_bytes_;
    mutable std::mutex mutex_;
    size_t in_use_ = 0;
    Chunk* open_ = nullptr;  ///< the one that still has room; guarded by mutex_, as all counts are
};

/// Arenas of the whole program; never destroyed.
HugeArena& weight_arena();
HugeArena& cache_arena();

}  // namespace kvasir::kernels
