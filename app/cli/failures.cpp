// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/failures.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>

#include "app/cli/common.h"
#include "app/cli/standard_streams.h"

namespace kvasir::cli {
namespace {

Error out_of_memory() {
    return {ErrorCode::memory, "out of memory", "", "", "Use fewer lanes, a shorter text or a smaller model."};
}

}  // namespace

Error error_of(const std::exception& exception) {
    // A vector that is longer than memory has addresses for is one more way to have too little of it.
    if (dynamic_cast<const std::bad_alloc*>(&exception) || dynamic_cast<const std::length_error*>(&exception))
        return out_of_memory();
    if (const auto* failed = dynamic_cast<const std::system_error*>(&exception)) {
        // Threads: no room for one more stack.
        const std::error_code code = failed->code();
        if (code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory)
            return out_of_memory();
        return stdout_error(code.value());  // fmt's
    }
    return {ErrorCode::input, "stopped by an unexpected value", "", exception.what(), "Please report it."};
}

void say_out_of_memory_at_the_end() {
    std::set_terminate([] {
        try {
            if (const auto current = std::current_exception()) std::rethrow_exception(current);
        } catch (const std::exception& e) {
            const Error error = error_of(e);
            if (error.code != ErrorCode::memory) std::abort();
            print_error(error);
            std::fflush(stdout);
            ::_exit(exit_status_of(error.code));
        } catch (...) {
        }
        std::abort();
    });
}

}  // namespace kvasir::cli
