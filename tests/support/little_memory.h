// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace kvasir::test {

constexpr size_t kMiB = size_t(1) << 20;

/// While it lives the program gets so much memory and no more.
class LittleMemory {
 public:
    explicit LittleMemory(size_t more) {
        ::getrlimit(RLIMIT_AS, &before_);
        size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit now = before_;
        now.rlim_cur = pages * size_t(::getpagesize()) + more;
        ::setrlimit(RLIMIT_AS, &now);
    }
    ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

 private:
    rlimit before_{};
};

/// Sanitizers take all address space that there is.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryCanBeLittle = false;
#else
constexpr bool kMemoryCanBeLittle = true;
#endif

}  // namespace kvasir::test
