// SPDX-License-Identifier: GPL-3.0-or-later
// Where memory that is not there becomes an error: inside, containers throw; nothing throws out of the core.
#pragma once

#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/base/result.h"

namespace kvasir {

/// Where there is no memory even for words: these need none, a std::string has room for so many itself.
inline Error no_memory() {
    return {ErrorCode::memory, "out of memory", "", "", ""};
}

/// A thread there is no memory for, or that a limit forbids, is too little memory like any other.
template <class F>
std::thread start_thread(F&& work) {
    try {
        return std::thread(std::forward<F>(work));
    } catch (const std::system_error&) {
        throw std::bad_alloc();
    }
}

/// Is there so much memory at the moment? To be asked before libraries are used that do not survive an allocation that
/// fails: nlohmann's JSON allocates in its destructor, and its operator[] leaves a null behind.
inline bool room_for(size_t bytes) {
    void* const room = ::operator new(bytes, std::nothrow);
    ::operator delete(room);
    return room != nullptr;
}

/// job(); when an allocation failed in it, refusal() after it, whose value is returned instead: an error, where job()
/// returns a Result or Status, and that without words where there is no memory for them either.
template <class Job, class Refusal>
auto guard_memory(Job&& job, Refusal&& refusal) -> decltype(job()) {
    const auto refuse = [&]() -> decltype(job()) {
        if constexpr (std::is_constructible_v<decltype(job()), Error>) try {
                return refusal();
            } catch (const std::bad_alloc&) {
                return no_memory();
            }
        else
            return refusal();
    };
    try {
        return job();
    } catch (const std::bad_alloc&) {
        return refuse();
    } catch (const std::length_error&) {  // more than any memory holds
        return refuse();
    }
}

/// The same with an error of these words.
template <class Job>
auto guard_memory(const char* what, const char* hint, Job&& job) -> decltype(job()) {
    return guard_memory(job, [&] { return Error{ErrorCode::memory, what, "", "there is not enough memory", hint}; });
}

}  // namespace kvasir
