// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace kvasir {

/// Writes to a temporary file beside `path`, flushes it to disk and renames it: a full disk or a crash leaves the old
/// file whole.
Status write_file_atomically(const std::string& path, std::string_view bytes);

/// The whole file; refuses directories and files over max_bytes.
Result<std::string> read_file(const std::string& path, size_t max_bytes = size_t(1) << 30);

}  // namespace kvasir
