// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "core/base/result.h"

namespace kvasir {

/// The whole file; refuses directories and files over max_bytes.
Result<std::string> read_file(const std::string& path, size_t max_bytes = size_t(1) << 30);

}  // namespace kvasir
