// SPDX-License-Identifier: GPL-3.0-or-later
// The session as a file: open, save, what is unsaved, the last session, runs restored from their journals. Reading and
// writing happen on a thread of their own, one after the other.
#pragma once

#include <QLockFile>
#include <QObject>
#include <QString>
#include <QThreadPool>
#include <functional>
#include <memory>

#include "core/session/session_file.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/run_history.h"

namespace kvasir::ui {

class SessionFiles : public QObject {
    Q_OBJECT
 public:
    /// `data_folder`: where the last session and the journals of the runs are kept; "" keeps nothing.
    SessionFiles(RunController& controller, const QString& data_folder, QObject* parent = nullptr);
    ~SessionFiles() override;

    /// ~/.local/share/kvasir, by the desktop's rules.
    static QString standardFolder();
    /// What the window shows beside the run; it is saved with it.
    void setViewSource(std::function<nlohmann::json()> view) { view_ = std::move(view); }

    void open(const QString& path);
    void openLastSession() { open(lastSessionPath()); }
    void saveTo(const QString& path);  ///< becomes the session's file
    void restoreRun(const QString& journal_path);
    void discardRun(const QString& journal_path);

    QString path() const { return path_; }  ///< of the session's file; "" while it has none
    bool mayOverwrite() const { return lock_ != nullptr || lock_impossible_; }  ///< no other program has it open
    QString title() const;                                                      ///< file, or what the run is
    bool modified() const;
    bool unsavedResults() const;
    /// What is unsaved would be lost if it left the screen now.
    bool wouldLoseResults() const { return history_.keeps() && unsavedResults() && !history_.holdsRun(); }
    /// Tokens of the run in the session's file when the one on screen is another run; 0: it is the same, or there is
    /// none.
    int tokensOfOtherRunInFile() const;
    bool hasLastSession() const;
    RunHistory& history() { return history_; }

    /// The run on screen gives place to another: says where it stays.
    void makeRoom();
    /// Ends the run and keeps everything as the last session. The reason when it could not be written.
    QString leave();
    /// Nothing is asked and nothing offered at the next start.
    void closeRuns() { history_.close("quit"); }

 signals:
    void opened(const QString& path, const QString& problem);  ///< problem: "" when it is on screen
    void adopted(const kvasir::Session& session);              ///< the controller has it, and its run: before opened()
    void saved(const QString& path, const QString& problem);
    void kept(const kvasir::JournalSummary& run);                  ///< unsaved results left the screen
    void openElsewhere(const QString& path, const QString& whom);  ///< another program has this file open
    void titleChanged();
    void said(const QString& text);   ///< for the status bar
    void noted(const QString& text);  ///< for a message

 private:
    /// What of the window is on the disk.
    struct Mark {
        Experiment experiment;
        std::shared_ptr<const RunInfo> run;
        size_t n_records = 0, n_floors = 0;
        int n_tokens = 0;  ///< of the reference
    };
    Mark mark() const;
    static bool sameResults(const Mark& a, const Mark& b);
    void adopt(Session session, const QString& path, const QString& name);
    std::unique_ptr<QLockFile> lockOf(const QString& path, QString* whom) const;
    void take(const QString& path, std::unique_ptr<QLockFile> lock);
    QString lastSessionPath() const;
    Session snapshot() const;
    void retitle();

    RunController& controller_;
    const QString data_folder_;
    RunHistory history_;
    QThreadPool worker_;
    std::function<nlohmann::json()> view_;
    QString path_, name_;
    Mark saved_;
    std::unique_ptr<QLockFile> lock_;
    bool lock_impossible_ = false;
    QString last_title_;
    bool last_modified_ = false;
};

}  // namespace kvasir::ui
