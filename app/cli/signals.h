// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl+C and its relatives: the first one stops the work, and what is finished is still written; the second one ends
// the program at once.
#pragma once

#include "core/base/cancel.h"

namespace kvasir::cli {

/// Takes SIGINT, SIGTERM and SIGHUP (unless the program was started with it ignored, as nohup does), and turns SIGXFSZ
/// into an error of the write that met the limit.
void take_signals();

/// True once one of them came.
CancelCheck interrupted_by_user();

/// 128 + the first one's number (130 Ctrl+C, 143 SIGTERM, 129 SIGHUP); 130 when none came.
int interrupted_status();

/// While it lives, the second signal only makes given_up() true and the third ends the program: what remains is short
/// and worth having.
class LastPass {
 public:
    LastPass();
    ~LastPass();
    LastPass(const LastPass&) = delete;
    LastPass& operator=(const LastPass&) = delete;
    static CancelCheck given_up();
};

}  // namespace kvasir::cli
