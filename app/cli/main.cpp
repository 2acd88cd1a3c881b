// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "app/cli/commands.h"
#include "app/cli/common.h"

int main(int argc, char** argv) {
    CLI::App app{"Kvasir: what a KV cache costs, and what it does to the text.", "kvasir-cli"};
    app.set_version_flag("--version", KVASIR_VERSION);
    app.require_subcommand(1);
    int status = 0;
    using namespace kvasir::cli;
    for (auto add :
         {add_run, add_eval, add_bench, add_caches, add_tokenize, add_inspect, add_logits, add_replay, add_selftest,
          add_quantize, add_record, add_distribution, add_sweep, add_attribute, add_capacity, add_tasks})
        add(app, status);
    // Looked for by itself: the options of a command line that is refused are not all read.
    Common common;
    common.json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    using kvasir::ErrorCode;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
        return fail(common, {ErrorCode::usage, "wrong usage", "the command line", e.what(), "See kvasir-cli --help."});
    } catch (const std::bad_alloc&) {
        return fail(common, {ErrorCode::memory, "out of memory", "", "",
                             "Use fewer lanes, a shorter text or a smaller model."});
    } catch (const std::exception& e) {
        return fail(common, {ErrorCode::usage, e.what(), "", "", ""});
    }
    return status;
}
