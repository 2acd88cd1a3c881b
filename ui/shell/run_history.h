// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were measured before: a journal of each is written while it runs.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "core/session/run_journal.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

/// "11:42", or "30 November, 11:42" of another day.
QString timeOfRun(const JournalSummary& run);
/// "11:42 · fp16, quanto:4 · 38 of 56 tokens · SmolLM2-135M-Instruct Q4_1"
QString describeRun(const JournalSummary& run);

class RunHistory : public QObject {
    Q_OBJECT
 public:
    /// `folder` "": nothing is kept.
    RunHistory(RunController& controller, const QString& folder, QObject* parent = nullptr);

    /// Runs of programs that died, newest first; damaged journals among them.
    std::vector<JournalSummary> unclosed() const;
    /// Every run that can be shown again, newest first, the one on screen left out.
    std::vector<JournalSummary> recent() const;
    /// What is known of the journal of the run on screen; `path` "" when there is none.
    JournalSummary current() const;

    bool keeps() const { return journal_ != nullptr; }
    /// The run on screen is in its journal so far.
    bool holdsRun() const { return journal_ && !state_.path.empty() && !state_.failed; }
    const RunJournal::State& state() const { return state_; }
    const std::shared_ptr<RunJournal>& journal() const { return journal_; }
    /// Nobody needs to be asked about these runs: they were saved, or the window closes.
    void close(const char* why);

 signals:
    void stateChanged();  ///< a run can no longer be kept, or can again

 private:
    void look();

    std::shared_ptr<RunJournal> journal_;
    RunJournal::State state_;
};

}  // namespace kvasir::ui
