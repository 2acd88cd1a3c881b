// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_history.h"

#include <QDateTime>
#include <QLocale>

#include "ui/shell/format.h"

namespace kvasir::ui {

QString timeOfRun(const JournalSummary& run) {
    const QDateTime at = QDateTime::fromSecsSinceEpoch(qint64(run.started));
    const QString time = at.time().toString(QStringLiteral("HH:mm"));
    if (at.date() == QDate::currentDate()) return time;
    return QStringLiteral("%1, %2").arg(QLocale().toString(at.date(), QLocale::LongFormat), time);
}

QString describeRun(const JournalSummary& run) {
    QStringList specs;
    for (const std::string& spec : run.specs)
        specs.append(QString::fromStdString(spec));
    const qsizetype most = 4;
    if (specs.size() > most) {
        const qsizetype more = specs.size() - most;
        specs = specs.mid(0, most);
        specs.append(RunHistory::tr("%1 more").arg(more));
    }
    return RunHistory::tr("%1 · %2 · %3 of %4 tokens · %5")
        .arg(timeOfRun(run), specs.join(QStringLiteral(", ")), countText(run.n_done), countText(run.n_planned),
             QString::fromStdString(run.model));
}

RunHistory::RunHistory(RunController& controller, const QString& folder, QObject* parent) : QObject(parent) {
    if (folder.isEmpty()) return;
    journal_ = std::make_shared<RunJournal>(folder.toStdString());
    controller.engine().observe(journal_);
    connect(&controller, &RunController::runBegan, this, &RunHistory::look);
    connect(&controller, &RunController::recordsAppended, this, &RunHistory::look);
    connect(&controller, &RunController::statusChanged, this, &RunHistory::look);
}

void RunHistory::look() {
    RunJournal::State state = journal_->state();
    if (state == state_) return;
    state_ = std::move(state);
    emit stateChanged();
}

std::vector<JournalSummary> RunHistory::unclosed() const {
    if (!journal_) return {};
    std::vector<JournalSummary> runs = list_journals(journal_->folder());
    std::erase_if(runs, [](const JournalSummary& s) {
        if (s.in_use || s.closed) return true;
        const bool nothing = s.damage.empty() && s.n_done == 0;  // killed before its first token
        if (nothing) (void)discard_journal(s.path);
        return nothing;
    });
    return runs;
}

std::vector<JournalSummary> RunHistory::recent() const {
    if (!journal_) return {};
    const std::string shown = journal_->state().path;
    std::vector<JournalSummary> runs = list_journals(journal_->folder());
    std::erase_if(runs, [&](const JournalSummary& s) { return !s.damage.empty() || s.path == shown || s.n_done == 0; });
    return runs;
}

JournalSummary RunHistory::current() const {
    if (!holdsRun()) return {};
    for (JournalSummary& s : list_journals(journal_->folder()))
        if (s.path == state_.path) return std::move(s);
    return {};
}

void RunHistory::close(const char* why) {
    if (journal_) journal_->close(why);
}

}  // namespace kvasir::ui
