// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace kvasir::cli {
namespace {

std::atomic<int> n_signals{0}, first_signal{0}, ends_at{2};

void on_signal(int number) {
    int none = 0;
    first_signal.compare_exchange_strong(none, number);
    if (++n_signals >= ends_at.load()) ::_exit(128 + first_signal.load());
}

}  // namespace

void take_signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        ::sigaction(number, &action, nullptr);  // without SA_RESTART: a wait for a pipe ends, too
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

CancelCheck interrupted_by_user() {
    return [] { return n_signals.load() > 0; };
}

int interrupted_status() {
    const int number = first_signal.load();
    return 128 + (number ? number : SIGINT);
}

LastPass::LastPass() {
    ++ends_at;
}

LastPass::~LastPass() {
    --ends_at;
}

CancelCheck LastPass::given_up() {
    return [] { return n_signals.load() > 1; };
}

}  // namespace kvasir::cli
