// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string_view>

#include "app/cli/commands.h"
#include "app/cli/common.h"
#include "app/cli/failures.h"
#include "app/cli/numbers.h"
#include "app/cli/standard_streams.h"

namespace kvasir::cli {
namespace {

/// The exit status of the command that ran, or of the refusal of the command line.
int run_command(int argc, char** argv, const Common& common) {
    CLI::App app{"Kvasir: what a KV cache costs, and what it does to the text.", "kvasir-cli"};
    app.set_version_flag("--version", KVASIR_VERSION);
    app.require_subcommand(1);
    int status = 0;
    for (auto add :
         {add_run, add_eval, add_bench, add_caches, add_tokenize, add_inspect, add_logits, add_replay, add_selftest,
          add_quantize, add_record, add_distribution, add_sweep, add_attribute, add_capacity, add_tasks})
        add(app, status);
    check_numbers(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
        return fail(common, {ErrorCode::usage, "wrong usage", "the command line", e.what(), "See kvasir-cli --help."});
    }
    return status;
}

}  // namespace
}  // namespace kvasir::cli

int main(int argc, char** argv) {
    using namespace kvasir::cli;
    open_standard_streams();
    take_signals();
    say_out_of_memory_at_the_end();
    // Looked for by itself: the options of a command line that is refused are not all read.
    Common common;
    common.json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    int status = 0;
    try {
        status = run_command(argc, argv, common);
    } catch (const std::exception& e) {
        // A standard output that takes nothing any more is said once, below.
        if (!std::ferror(stdout)) status = fail(common, error_of(e));
    }
    const kvasir::Status printed = flush_stdout();
    if (printed) return status;
    print_error(printed.error());
    return exit_status_of(printed.error().code);
}
