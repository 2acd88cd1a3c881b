// SPDX-License-Identifier: GPL-3.0-or-later
// Memory for weights: large chunks on huge pages, shared by many matrices. A step reads all weights once; with 4 KiB
// pages about a fifth of the read bandwidth goes into address translation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir::kernels {

/// 64-byte aligned, uninitialised. Thread-safe. Aborts when the system has no memory (as `new` without handlers would).
uint8_t* allocate_weights(size_t bytes);

/// Gives back what allocate_weights returned; null is fine.
void free_weights(uint8_t* p);

/// Page-aligned memory for large arrays with advice to use huge pages, not shared; null when there is none.
uint8_t* allocate_huge(size_t bytes);
void free_huge(uint8_t* p);

}  // namespace kvasir::kernels
