// SPDX-License-Identifier: GPL-3.0-or-later
// Where memory that is not there becomes an error: inside, containers throw; nothing throws out of the core.
#pragma once

#include <new>
#include <stdexcept>

#include "core/base/result.h"

namespace kvasir {

/// job(); when an allocation failed in it, refusal() after it, whose value is returned instead: an error, where job()
/// returns a Result or Status.
template <class Job, class Refusal>
auto guard_memory(Job&& job, Refusal&& refusal) -> decltype(job()) {
    try {
        return job();
    } catch (const std::bad_alloc&) {
        return refusal();
    } catch (const std::length_error&) {  // more than any memory holds
        return refusal();
    }
}

/// The same with an error of these words.
template <class Job>
auto guard_memory(const char* what, const char* hint, Job&& job) -> decltype(job()) {
    return guard_memory(job, [&] { return Error{ErrorCode::memory, what, "", "there is not enough memory", hint}; });
}

}  // namespace kvasir
