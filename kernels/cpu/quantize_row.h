// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cpu/matmul.h"

namespace kvasir::kernels {

/// Writes one row of fp32 weights x (cols) as the file format of `type` has it: f32, f16, q8_0 or q4_0 (for the block
/// types cols is a multiple of 32); out has row_bytes(type, cols). False when a value or a scale leaves the range of
/// fp16 or is not finite: the row is then not usable.
/// f16 rounds to nearest even. Blocks follow ggml's reference code (docs/spec/kv-cache-schemes.md, section 6.1): codes
/// come from the unrounded scale and its reciprocal, the stored scale is rounded to fp16.
bool quantize_row(WeightType type, const float* x, int cols, void* out);

}  // namespace kvasir::kernels
