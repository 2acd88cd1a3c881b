// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says about sessions and runs: which run was not closed, what cannot be kept, where unsaved results
// went, who else has the file.
#pragma once

#include <QObject>
#include <functional>

#include "ui/shell/session_files.h"

namespace kvasir::ui {

class MessageArea;

class SessionMessages : public QObject {
    Q_OBJECT
 public:
    /// `may_replace` is asked before another run comes on screen.
    SessionMessages(SessionFiles& files, MessageArea& messages, std::function<void()> save_as,
                    std::function<bool()> may_replace, QObject* parent = nullptr);
    /// One message for each run whose program died: Restore, Discard.
    void offerUnclosed();

 private:
    void offer(const JournalSummary& run, const QString& key);
    void showWhetherKept();

    SessionFiles& files_;
    MessageArea& messages_;
    std::function<void()> save_as_;
    std::function<bool()> may_replace_;
};

}  // namespace kvasir::ui
