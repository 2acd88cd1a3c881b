// SPDX-License-Identifier: GPL-3.0-or-later
// Where memory that is not there becomes an error: inside, containers throw; nothing throws out of the core.
#pragma once

#include <new>
#include <stdexcept>

#include "core/base/result.h"

namespace kvasir {

/// job(), which returns a Result or Status; an allocation that failed in it comes back as an error.
template <class F>
auto guard_memory(const char* what, const char* hint, F&& job) -> decltype(job()) {
    const auto refusal = [&] { return Error{ErrorCode::memory, what, "", "there is not enough memory", hint}; };
    try {
        return job();
    } catch (const std::bad_alloc&) {
        return refusal();
    } catch (const std::length_error&) {  // more than any memory holds
        return refusal();
    }
}

}  // namespace kvasir
