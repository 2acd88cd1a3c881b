// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/session_files.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "core/base/guard_memory.h"
#include "core/base/output.h"

namespace kvasir::ui {

SessionFiles::SessionFiles(RunController& controller, const QString& data_folder, QObject* parent)
    : QObject(parent),
      controller_(controller),
      data_folder_(data_folder),
      history_(controller, data_folder.isEmpty() ? QString() : data_folder + QStringLiteral("/runs")),
      saved_(mark()) {
    worker_.setMaxThreadCount(1);  // of two saves to one place the later one stays
    for (const auto signal :
         {&RunController::runBegan, &RunController::recordsAppended, &RunController::experimentChanged})
        connect(&controller_, signal, this, &SessionFiles::retitle);
    connect(&controller_, &RunController::runBegan, this, [this] {
        if (!controller_.runIsFromFile()) name_.clear();  // another run than the one it names
    });
}

SessionFiles::~SessionFiles() {
    worker_.waitForDone();
}

QString SessionFiles::standardFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/kvasir");
}

QString SessionFiles::lastSessionPath() const {
    return data_folder_ + QStringLiteral("/last.kvasir");
}

bool SessionFiles::hasLastSession() const {
    return !data_folder_.isEmpty() && QFileInfo::exists(lastSessionPath());
}

SessionFiles::Mark SessionFiles::mark() const {
    const RunModel& run = controller_.run();
    Mark m;
    m.experiment = controller_.experiment();
    m.experiment.model_path.clear();  // another model on screen changes nothing of the session
    if (run.empty()) return m;
    m.run = run.shared_info();
    for (int i = 0; i < run.n_lanes(); ++i)
        m.n_records += run.lane(i).size();
    m.n_floors = run.floors().size();
    m.n_tokens = int(run.lane(run.info().experiment.reference).size());
    return m;
}

bool SessionFiles::sameResults(const Mark& a, const Mark& b) {
    return a.run == b.run && a.n_records == b.n_records && a.n_floors == b.n_floors;
}

bool SessionFiles::unsavedResults() const {
    const Mark now = mark();
    return now.n_records > 0 && !sameResults(now, saved_);
}

int SessionFiles::tokensOfOtherRunInFile() const {
    return path_.isEmpty() || !saved_.run || saved_.run == mark().run ? 0 : saved_.n_tokens;
}

bool SessionFiles::modified() const {
    return unsavedResults() || (!path_.isEmpty() && !(mark().experiment == saved_.experiment));
}

QString SessionFiles::title() const {
    if (!path_.isEmpty()) return QFileInfo(path_).fileName();
    if (!name_.isEmpty()) return name_;
    return controller_.run().empty() ? QString() : tr("Untitled");
}

void SessionFiles::retitle() {
    const QString now = title();
    const bool changed = modified();
    if (now == last_title_ && changed == last_modified_) return;
    last_title_ = now;
    last_modified_ = changed;
    emit titleChanged();
}

Session SessionFiles::snapshot() const {
    Session session = controller_.session();
    if (view_) session.extra["view"] = view_();
    return session;
}

/// The lock that says who has a session file open; nullptr when another program has, or when none can be made there.
std::unique_ptr<QLockFile> SessionFiles::lockOf(const QString& path, QString* whom) const {
    const QFileInfo file(path);
    const QString real = file.exists() ? file.canonicalFilePath() : file.absoluteFilePath();
    const QFileInfo at(real);
    auto lock = std::make_unique<QLockFile>(at.absolutePath() + QStringLiteral("/.%1.lock").arg(at.fileName()));
    lock->setStaleLockTime(0);  // only the death of its owner ends it
    if (lock->tryLock(0)) return lock;
    if (lock->error() == QLockFile::LockFailedError) {
        qint64 pid = 0;
        QString host, program;
        lock->getLockInfo(&pid, &host, &program);
        *whom = tr("process %1 on %2").arg(pid).arg(host);
    }
    return nullptr;
}

void SessionFiles::take(const QString& path, std::unique_ptr<QLockFile> lock) {
    path_ = path;
    name_.clear();
    lock_ = std::move(lock);
}

void SessionFiles::makeRoom() {
    if (!unsavedResults() || !history_.holdsRun()) return;
    if (const JournalSummary run = history_.current(); !run.path.empty()) emit kept(run);
}

void SessionFiles::adopt(Session session, const QString& path, const QString& name) {
    QString whom;
    std::unique_ptr<QLockFile> lock;
    if (path.isEmpty()) {
        lock_impossible_ = false;
    } else if (path != path_ || !lock_) {
        lock = lockOf(path, &whom);
        lock_impossible_ = !lock && whom.isEmpty();
    } else {
        lock = std::move(lock_);
    }
    const Session kept{session.experiment, {}, session.extra};
    controller_.adoptSession(std::move(session));
    take(path, std::move(lock));
    name_ = name;
    saved_ = mark();
    if (!whom.isEmpty()) emit openElsewhere(path, whom);
    emit adopted(kept);
}

void SessionFiles::open(const QString& path) {
    worker_.start([this, path] {
        auto session = std::make_shared<Result<Session>>(load_session(path.toStdString()));
        QMetaObject::invokeMethod(this, [this, path, session] {
            QString problem;
            if (*session) {
                makeRoom();
                const bool last = !data_folder_.isEmpty() && path == lastSessionPath();
                adopt(std::move(session->value()), last ? QString() : path, last ? tr("Last session") : QString());
            } else {
                problem = QString::fromStdString(session->error().message());
            }
            retitle();
            emit opened(path, problem);
        });
    });
}

void SessionFiles::restoreRun(const QString& journal_path) {
    worker_.start([this, journal_path, journal = history_.journal()] {
        struct Found {
            Result<RecoveredRun> run;
            Status had;
        };
        auto found = std::make_shared<Found>(Found{read_journal(journal_path.toStdString()), {}});
        if (found->run) found->had = journal->adopt(journal_path.toStdString());
        QMetaObject::invokeMethod(this, [this, journal_path, found] {
            QString problem;
            if (found->run && found->had) {
                RecoveredRun& r = *found->run;
                makeRoom();
                adopt({std::move(r.experiment), std::move(r.run), nlohmann::json::object()}, QString(),
                      tr("Run of %1").arg(timeOfRun(r.summary)));
                saved_.run.reset();  // it is in no file of the user's
                if (!r.note.empty())
                    emit noted(
                        tr("The run of %1 is restored. %2").arg(timeOfRun(r.summary), QString::fromStdString(r.note)));
            } else {
                problem = QString::fromStdString((found->run ? found->had.error() : found->run.error()).message());
            }
            retitle();
            emit opened(journal_path, problem);
        });
    });
}

void SessionFiles::discardRun(const QString& journal_path) {
    if (const Status gone = discard_journal(journal_path.toStdString()); !gone)
        emit noted(QString::fromStdString(gone.error().message()));
}

void SessionFiles::saveTo(const QString& path) {
    std::shared_ptr<QLockFile> lock;
    if (path != path_ || !lock_) {
        QString whom;
        lock = lockOf(path, &whom);
        if (!whom.isEmpty()) {
            emit saved(path, tr("Not saved: %1 is open in another program (%2). Choose another name.")
                                 .arg(QFileInfo(path).fileName(), whom));
            return;
        }
    }
    OutputPlan plan;
    if (controller_.model()) plan.reads(controller_.model()->file().path(), "the model");
    if (const Status possible = plan.writes(path.toStdString(), "the session"); !possible) {
        emit saved(path, QString::fromStdString(possible.error().message()));
        return;
    }
    const auto session =
        guard_memory([&] { return std::make_shared<Session>(snapshot()); }, [] { return std::shared_ptr<Session>(); });
    if (!session) {
        emit saved(path, tr("Not saved: there is not enough memory for a copy of the results. Close other programs and "
                            "save again."));
        return;
    }
    const Mark what = mark();
    emit said(tr("Saving %1").arg(QFileInfo(path).fileName()));
    worker_.start([this, session, path, what, lock] {
        const Status written = save_session(*session, path.toStdString());
        const QString problem = written ? QString() : QString::fromStdString(written.error().message());
        QMetaObject::invokeMethod(this, [this, path, problem, what, lock] {
            if (problem.isEmpty()) {
                if (path != path_ || !lock_) {
                    QString whom;
                    if (lock) lock->unlock();
                    take(path, lockOf(path, &whom));
                    lock_impossible_ = !lock_ && whom.isEmpty();
                }
                saved_ = what;
                if (!unsavedResults() && controller_.runIsOver()) history_.close("saved");
                emit said(tr("Saved %1").arg(path));
            }
            retitle();
            emit saved(path, problem);
        });
    });
}

QString SessionFiles::leave() {
    controller_.endRun();
    worker_.waitForDone();
    if (data_folder_.isEmpty() || controller_.run().empty()) return {};
    QDir().mkpath(data_folder_);
    const Status written = guard_memory("cannot keep the last session", "Close other programs.",
                                        [&] { return save_session(snapshot(), lastSessionPath().toStdString()); });
    return written ? QString() : QString::fromStdString(written.error().message());
}

}  // namespace kvasir::ui
