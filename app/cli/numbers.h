// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

namespace kvasir::cli {

/// Numbers of every option of every command are decimal (010 is ten, not eight; 0x10 is refused) and finite.
void check_numbers(CLI::App& app);

}  // namespace kvasir::cli
