// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cache/cache_spec.h"

namespace kvasir {

/// `spec` with other residual lengths and another sink, written in its preset form where that can say it, else in the
/// long form. Sides stored as they come have neither and stay as they are. Refuses what the scheme cannot have, with
/// the reason.
Result<CacheSpec> with_policy(const CacheSpec& spec, int residual_k, int residual_v, int sink);

}  // namespace kvasir
