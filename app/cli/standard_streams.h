// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

namespace kvasir::cli {

/// Makes sure that no file takes the place of a closed standard stream.
void open_standard_streams();

/// What a write to standard output that failed with this errno means.
Error stdout_error(int number);

/// Sends what was printed on its way. A full disk or a closed stream is an error.
Status flush_stdout();

}  // namespace kvasir::cli
