// SPDX-License-Identifier: GPL-3.0-or-later
// One function per command: adds its subcommand to the program. The status of the command that ran goes to `status`.
#pragma once

#include <CLI/CLI.hpp>

namespace kvasir::cli {

void add_run(CLI::App& app, int& status);
void add_eval(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_caches(CLI::App& app, int& status);
void add_tokenize(CLI::App& app, int& status);
void add_inspect(CLI::App& app, int& status);
void add_logits(CLI::App& app, int& status);
void add_replay(CLI::App& app, int& status);
void add_selftest(CLI::App& app, int& status);
void add_quantize(CLI::App& app, int& status);
void add_record(CLI::App& app, int& status);
void add_distribution(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_attribute(CLI::App& app, int& status);
void add_capacity(CLI::App& app, int& status);
void add_tasks(CLI::App& app, int& status);

}  // namespace kvasir::cli
