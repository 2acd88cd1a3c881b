// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/session_messages.h"

#include <QFileInfo>

#include "ui/shell/format.h"
#include "ui/shell/message_bar.h"

namespace kvasir::ui {

SessionMessages::SessionMessages(SessionFiles& files, MessageArea& messages, std::function<void()> save_as,
                                 std::function<bool()> may_replace, QObject* parent)
    : QObject(parent),
      files_(files),
      messages_(messages),
      save_as_(std::move(save_as)),
      may_replace_(std::move(may_replace)) {
    connect(&files_.history(), &RunHistory::stateChanged, this, &SessionMessages::showWhetherKept);
    connect(&files_, &SessionFiles::kept, this, [this](const JournalSummary& run) {
        const QString path = QString::fromStdString(run.path);
        messages_
            .show(QStringLiteral("kept"), MessageBar::Kind::info,
                  tr("The run of %1 was not saved. It stays under File > Recent runs: %2 of %3 tokens.")
                      .arg(timeOfRun(run), countText(run.n_done), countText(run.n_planned)))
            ->addAction(tr("Show it"), [this, path] {
                if (may_replace_()) files_.restoreRun(path);
            });
    });
    connect(&files_, &SessionFiles::openElsewhere, this, [this](const QString& path, const QString& whom) {
        messages_
            .show(QStringLiteral("shared"), MessageBar::Kind::warn,
                  tr("%1 is open in another program too (%2). Save under another name, so that neither replaces what "
                     "the other saved.")
                      .arg(QFileInfo(path).fileName(), whom))
            ->addAction(
                tr("Save as …"), [this] { save_as_(); }, true);
    });
    connect(&files_, &SessionFiles::noted, this,
            [this](const QString& text) { messages_.show(QStringLiteral("recovered"), MessageBar::Kind::warn, text); });
}

void SessionMessages::showWhetherKept() {
    const RunJournal::State& state = files_.history().state();
    if (!state.failed) return messages_.clear(QStringLiteral("journal"));
    MessageBar* bar = messages_.show(QStringLiteral("journal"), MessageBar::Kind::warn,
                                     QString::fromStdString(state.problem.message()));
    bar->addAction(
        tr("Save as …"), [this] { save_as_(); }, true);
    bar->setQuestion();  // results may be lost: what else there is to say can wait
}

void SessionMessages::offerUnclosed() {
    int n = 0;
    for (const JournalSummary& run : files_.history().unclosed())
        offer(run, QStringLiteral("recover-%1").arg(n++));
}

void SessionMessages::offer(const JournalSummary& run, const QString& key) {
    const QString path = QString::fromStdString(run.path);
    const QString sentence = run.damage.empty()
                                 ? tr("A run of %1 was not closed: %2 of %3 tokens.")
                                       .arg(timeOfRun(run), countText(run.n_done), countText(run.n_planned))
                                 : tr("The journal %1 is damaged and is skipped: %2.")
                                       .arg(QFileInfo(path).fileName(), QString::fromStdString(run.damage));
    MessageBar* bar =
        messages_.show(key, run.damage.empty() ? MessageBar::Kind::info : MessageBar::Kind::warn, sentence);
    if (run.damage.empty())
        bar->addAction(
            tr("Restore"),
            [this, path, key] {
                if (!may_replace_()) return;
                files_.restoreRun(path);
                messages_.clear(key);
            },
            true);
    bar->addAction(tr("Discard"), [this, path] { files_.discardRun(path); });
    bar->setQuestion();
}

}  // namespace kvasir::ui
