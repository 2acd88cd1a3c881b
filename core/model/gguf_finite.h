// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/gguf.h"

namespace kvasir {

/// Types whose values the forward pass can read.
bool is_readable_type(uint32_t ggml_type);

/// Whether every plain value, or every scale and minimum of a block type, is finite. The type must be readable.
bool all_finite(const GgufTensor& tensor);

}  // namespace kvasir
