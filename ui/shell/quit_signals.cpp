// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/quit_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <cerrno>
#include <csignal>

namespace kvasir::ui {

namespace {

int pipe_ends[2] = {-1, -1};  // a signal handler may write into a pipe, and little else

void onSignal(int number) {
    const int kept = errno;
    const char byte = char(number);
    [[maybe_unused]] const ssize_t n = ::write(pipe_ends[1], &byte, 1);
    errno = kept;
}

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

}  // namespace

QuitSignals::QuitSignals(std::function<void()> quit, QObject* parent) : QObject(parent), quit_(std::move(quit)) {
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    auto* notifier = new QSocketNotifier(pipe_ends[0], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this, notifier] {
        notifier->setEnabled(false);
        quit_();
    });
    for (const int number : kSignals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        if (before.sa_handler == SIG_IGN) continue;
        struct sigaction now {};
        now.sa_handler = onSignal;
        now.sa_flags = SA_RESTART | int(SA_RESETHAND);
        ::sigaction(number, &now, nullptr);
    }
}

QuitSignals::~QuitSignals() {
    for (const int number : kSignals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        if (before.sa_handler == onSignal) std::signal(number, SIG_DFL);
    }
    for (int& end : pipe_ends) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

}  // namespace kvasir::ui
