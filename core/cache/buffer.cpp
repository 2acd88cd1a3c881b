// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/buffer.h"

#include "kernels/cpu/huge_arena.h"

namespace kvasir {

ZeroedBytes::ZeroedBytes(size_t n) : data_(n ? kernels::cache_arena().allocate(n) : nullptr) {}

ZeroedBytes::~ZeroedBytes() {
    kernels::HugeArena::release(static_cast<uint8_t*>(data_));
}

}  // namespace kvasir
