// SPDX-License-Identifier: GPL-3.0-or-later
// Include before any Highway header. Kernels are written for 8 fp32 lanes: instruction sets with vectors of unknown
// length cannot hold them in a register, wider ones gain nothing, and each one more costs compile time.
#pragma once

#define HWY_DISABLED_TARGETS \
    (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
