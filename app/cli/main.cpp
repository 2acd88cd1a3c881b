// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "app/cli/commands.h"

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
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
        std::fprintf(stderr, "error: %s. See kvasir-cli --help.\n", e.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "error: out of memory. Use fewer lanes, a shorter text or a smaller model.\n");
        return 4;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 2;
    }
    return status;
}
