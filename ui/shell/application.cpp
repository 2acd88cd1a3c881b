// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/application.h"

#include <cstdio>
#include <new>

#include "core/base/guard_memory.h"

namespace kvasir::ui {

namespace {

constexpr size_t kReserve = size_t(8) << 20;

}  // namespace

Application::Application(int& argc, char** argv) : QApplication(argc, argv), reserve_(new char[kReserve]) {}

bool Application::notify(QObject* receiver, QEvent* event) {
    return guard_memory([&] { return QApplication::notify(receiver, event); },
                        [&] {
                            giveUp();
                            return false;
                        });
}

void Application::giveUp() {
    reserve_.reset();
    guard_memory(
        [&] {
            if (act_) act_();
        },
        [] { std::fputs("kvasir: out of memory.\n", stderr); });
    reserve_.reset(new (std::nothrow) char[kReserve]);
}

}  // namespace kvasir::ui
