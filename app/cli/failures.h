// SPDX-License-Identifier: GPL-3.0-or-later
// What escaped as an exception, as an error with its exit status.
#pragma once

#include <exception>

#include "core/base/result.h"

namespace kvasir::cli {

Error error_of(const std::exception& exception);

/// An allocation that fails where nothing can catch it (a thread that is being started, a destructor) ends the program
/// with the same sentence and status as one that can be caught.
void say_out_of_memory_at_the_end();

}  // namespace kvasir::cli
