// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "core/base/cancel.h"
#include "core/base/result.h"

namespace kvasir {

/// The whole file; refuses directories and files over max_bytes.
Result<std::string> read_file(const std::string& path, size_t max_bytes = size_t(1) << 30);

/// The same, but pipes and devices are read to their end as well; `cancelled` is asked while they are waited for.
Result<std::string> read_file_or_pipe(const std::string& path, size_t max_bytes, const CancelCheck& cancelled = {});

}  // namespace kvasir
