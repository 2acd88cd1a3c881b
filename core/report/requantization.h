// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kvasir {

/// Mean squared error of the first tokens' keys after 6 whole-cache flushes over that after the prompt, on keys with
/// one strong channel: 1 where quantizing again changes nothing. PRECONDITION: a scheme that flushes whole.
double requantization_growth(const std::string& spec);

}  // namespace kvasir
