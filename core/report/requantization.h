// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "core/base/result.h"

namespace kvasir {

/// Mean squared error of the first tokens' keys after 6 whole-cache flushes over that after the prompt, on keys with
/// one strong channel: 1 where quantizing again changes nothing. The scheme must flush whole.
Result<double> requantization_growth(const std::string& spec);

}  // namespace kvasir
