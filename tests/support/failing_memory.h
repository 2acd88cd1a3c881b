// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces the program's allocation functions: the nth allocation from now on fails, alone or with all after it, and
// who gave nothing back is found out. For one source file of a program.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace kvasir::test {

class FailingMemory {
 public:
    enum class How {
        once,    ///< the nth alone
        lasting  ///< the nth and all after it
    };

    /// The allocation after n more fails.
    static void fail_after(long n, How how = How::once) {
        reached_ = thrown_ = false;
        lasting_ = how == How::lasting;
        left_ = n;
        armed_ = true;
    }
    /// While one lives, its thread's allocations succeed, but for those whose caller asked whether they can: for
    /// libraries that do not survive one that fails (nlohmann's JSON), which may be used after such a question only.
    struct OnlyQuestionsFail {
        OnlyQuestionsFail() { only_questions_ = true; }
        ~OnlyQuestionsFail() { only_questions_ = false; }
    };
    static void relent() { armed_ = false; }
    /// The nth allocation was asked for.
    static bool reached() { return reached_; }
    /// ... and nobody was ready to do without it.
    static bool thrown() { return thrown_; }
    static long live() { return live_; }  ///< allocations not freed

    // ---- for the allocation functions
    static void* take(std::size_t n, std::size_t alignment, bool question = false) noexcept {
        void* p = nullptr;
        if (((question || !only_questions_) && fails()) ||
            posix_memalign(&p, std::max(alignment, sizeof(void*)), n) != 0)
            return nullptr;
        ++live_;
        return p;
    }
    static void* take_or_throw(std::size_t n, std::size_t alignment) {
        void* const p = take(n, alignment);
        if (p) return p;
        thrown_ = true;
        throw std::bad_alloc();
    }
    static void give_back(void* p) noexcept {
        if (p) --live_;
        std::free(p);
    }
    static bool fails() noexcept {
        if (!armed_.load(std::memory_order_relaxed)) return false;
        const long left = left_.fetch_sub(1);
        if (left > 0 || (left < 0 && !lasting_)) return false;
        return reached_ = true;
    }
    static void* map(void* at, std::size_t n, int protection, int flags, int file, off_t offset) noexcept {
        if ((flags & MAP_NORESERVE) && fails()) {
            thrown_ = true;
            return MAP_FAILED;
        }
        return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, protection, flags, file, offset));
    }

 private:
    static inline std::atomic<bool> armed_{false}, lasting_{false}, reached_{false}, thrown_{false};
    static inline thread_local bool only_questions_ = false;
    static inline std::atomic<long> left_{0}, live_{0};
};

}  // namespace kvasir::test

void* operator new(std::size_t n) {
    return kvasir::test::FailingMemory::take_or_throw(n, alignof(std::max_align_t));
}
void* operator new(std::size_t n, std::align_val_t alignment) {
    return kvasir::test::FailingMemory::take_or_throw(n, std::size_t(alignment));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return kvasir::test::FailingMemory::take(n, alignof(std::max_align_t), true);
}
void operator delete(void* p) noexcept {
    kvasir::test::FailingMemory::give_back(p);
}
void operator delete(void* p, std::size_t) noexcept {
    kvasir::test::FailingMemory::give_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    kvasir::test::FailingMemory::give_back(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    kvasir::test::FailingMemory::give_back(p);
}

// Weights and caches come from the arena, which asks for address space without reserving memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* mmap(void* at, size_t n, int protection, int flags, int file, off_t offset) noexcept {
    return kvasir::test::FailingMemory::map(at, n, protection, flags, file, offset);
}
#endif
