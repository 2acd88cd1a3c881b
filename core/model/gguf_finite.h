// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/gguf.h"

namespace kvasir {

/// Types whose values the forward pass can read.
bool is_readable_type(uint32_t ggml_type);

/// Whether every plain value, or every scale and minimum of a block type, is finite in whole blocks of a readable type.
bool all_finite(uint32_t type, const uint8_t* data, uint64_t n_bytes);
/// The same of a whole tensor; an error where it cannot be read.
Result<bool> all_finite(const GgufFile& file, const GgufTensor& tensor);

}  // namespace kvasir
