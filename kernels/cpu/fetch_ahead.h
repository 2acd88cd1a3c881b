// SPDX-License-Identifier: GPL-3.0-or-later
// Memory asked for before it is needed.
#pragma once

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace kvasir::kernels {

/// How far ahead of the work a stream is fetched: covers the latency of memory at full speed, stays inside two pages.
constexpr std::size_t kFetchAhead = 4096;

/// Asks for the lines of a stream in the order of their addresses, each about once, whatever order the work on them
/// has: several blocks at once or column by column. Asked for in the order of such work memory gives two thirds of its
/// rate. Addresses beyond the data never fault.
class FetchAhead {
 public:
    static constexpr std::size_t kLine = 64;

    explicit FetchAhead(const void* from, std::size_t distance = kFetchAhead)
        : at_(reinterpret_cast<std::uintptr_t>(from) + distance) {}

    /// The next n bytes.
    void next(std::size_t n) {
        for (std::size_t i = 0; i < n; i += kLine)
            hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(at_ + i));
        at_ += n;
    }

 private:
    std::uintptr_t at_;
};

}  // namespace kvasir::kernels
