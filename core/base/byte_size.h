// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace kvasir {

/// "80GiB", "80 GB", "1.5TiB", "24000MiB": decimal units (kB, MB, GB, TB) are powers of 1000, binary ones (KiB, MiB,
/// GiB, TiB) of 1024; B is one byte. The unit must be there: GB and GiB differ by 7 %. `option` is named in a refusal.
Result<uint64_t> parse_byte_size(std::string_view text, const std::string& option);

/// "4.88 GiB": the largest binary unit that leaves at least 1.
std::string byte_size_text(uint64_t bytes);

}  // namespace kvasir
