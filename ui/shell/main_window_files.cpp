// SPDX-License-Identifier: GPL-3.0-or-later
// Files in and out of the window. Reading and writing sessions happens off the GUI thread.
#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QPointer>
#include <QStandardPaths>
#include <QThreadPool>
#include <QTimer>
#include <algorithm>

#include "core/base/default_model.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/file_kinds.h"
#include "ui/shell/format.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_dialog.h"
#include "ui/shell/run_status.h"

namespace kvasir::ui {

void MainWindow::loadFirstModel() {
    const QString last = QString::fromStdString(controller_.experiment().model_path);
    if (!last.isEmpty() && QFileInfo::exists(last)) return controller_.loadModel(last);
    const QString standard = QString::fromStdString(default_model_path());
    if (QFileInfo::exists(standard)) return controller_.loadModel(standard);
    MessageBar* bar =
        messages_->show(QStringLiteral("model"), MessageBar::Kind::warn,
                        tr("No model yet: %1 is not there. Run tools/fetch-model, or open a GGUF file of your own.")
                            .arg(QDir::toNativeSeparators(standard)));
    bar->addAction(
        tr("Look again"), [this] { loadFirstModel(); }, true);
    bar->addAction(
        tr("Open a model …"), [this] { actions_["open"]->trigger(); }, true);
}

QString MainWindow::folder() const {
    const QString last = settings_.get("files/folder").toString();
    return last.isEmpty() || !QDir(last).exists() ? QDir::homePath() : last;
}

void MainWindow::openWithDialog() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open"), folder(),
                                                      tr("All that Kvasir opens (*.gguf *.kvasir *.txt *.md);;Models "
                                                         "(*.gguf);;Sessions (*.kvasir);;Texts (*.txt *.md)"));
    if (!path.isEmpty()) openPath(path);
}

void MainWindow::openPath(const QString& path, bool ask) {
    FileKind kind{};
    QString why;
    if (!acceptable(path, &kind, &why)) {
        messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, why);
        return;
    }
    messages_->clear(QStringLiteral("file"));
    if (kind == FileKind::model)
        openModel(path, ask);
    else if (kind == FileKind::session)
        openSession(path);
    else
        openText(path);
}

void MainWindow::openModel(const QString& path, bool ask) {
    if (ask) {
        ModelDialog dialog(path, this);
        if (dialog.exec() != QDialog::Accepted) return;
    }
    settings_.addRecentFile(path);
    controller_.loadModel(path);
}

void MainWindow::openText(const QString& path) {
    size_t replaced = 0;
    const Result<QString> text = readText(path, &replaced);
    if (!text) {
        messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, QString::fromStdString(text.error().message()));
        return;
    }
    settings_.addRecentFile(path);
    Experiment e = controller_.experiment();
    e.prompt = text.value().toStdString();
    e.chat = false;
    edits_.apply(tr("Use %1").arg(QFileInfo(path).fileName()), e);
    if (replaced > 0)
        messages_->show(QStringLiteral("file"), MessageBar::Kind::warn,
                        tr("%1 bytes of %2 are not UTF-8 and became U+FFFD.")
                            .arg(countText(qint64(replaced)), QFileInfo(path).fileName()));
}

nlohmann::json MainWindow::viewJson() const {
    nlohmann::json hidden = nlohmann::json::array();
    for (int i = 0; i < controller_.run().n_lanes(); ++i)
        if (!view_.laneShown(i)) hidden.push_back(i);
    return {{"crosshair", view_.crosshairStep()},
            {"hidden_lanes", hidden},
            {"measure", view_.errorMeasure() == ErrorMeasure::kl ? "kl" : "dp"},
            {"prompt_shown", lanes_->promptShown()}};
}

void MainWindow::applyViewJson(const nlohmann::json& view) {
    if (!view.is_object()) return;
    const RunModel& run = controller_.run();
    const auto within = [](const nlohmann::json& value, size_t n) {  // a file says what it likes
        return value.is_number_integer() && value >= 0 && value < n;
    };
    if (const auto hidden = view.find("hidden_lanes"); hidden != view.end() && hidden->is_array())
        for (const auto& lane : *hidden)
            if (within(lane, size_t(run.n_lanes()))) view_.setLaneShown(lane.get<int>(), false);
    if (const auto m = view.find("measure"); m != view.end())
        view_.setErrorMeasure(*m == "dp" ? ErrorMeasure::delta_probability : ErrorMeasure::kl);
    if (const auto p = view.find("prompt_shown"); p != view.end() && p->is_boolean())
        lanes_->setPromptShown(p->get<bool>());
    size_t n_steps = 0;
    for (int lane = 0; lane < run.n_lanes(); ++lane)
        n_steps = std::max(n_steps, run.lane(lane).size());
    if (const auto c = view.find("crosshair"); c != view.end() && within(*c, n_steps))
        view_.setCrosshairStep(c->get<int>());
}

void MainWindow::save(bool ask_name) {
    QString path = session_path_;
    if (ask_name || path.isEmpty()) {
        path = QFileDialog::getSaveFileName(this, tr("Save session"),
                                            path.isEmpty() ? folder() + QStringLiteral("/experiment.kvasir") : path,
                                            tr("Kvasir sessions (*.kvasir)"));
        if (path.isEmpty()) return;
        if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".kvasir");
    }
    saveSessionTo(path);
}

void MainWindow::saveSessionTo(const QString& path) {
    auto session = std::make_shared<Session>(controller_.session());
    session->extra["view"] = viewJson();
    QPointer<MainWindow> self(this);
    status_->say(tr("Saving %1").arg(QFileInfo(path).fileName()));
    QThreadPool::globalInstance()->start([self, session, path] {
        const Status saved = save_session(*session, path.toStdString());
        const QString problem = saved ? QString() : QString::fromStdString(saved.error().message());
        QMetaObject::invokeMethod(qApp, [self, path, problem] {
            if (!self) return;
            if (problem.isEmpty()) {
                self->session_path_ = path;
                self->setWindowTitle(QStringLiteral("%1 — Kvasir").arg(QFileInfo(path).fileName()));
                self->settings_.addRecentFile(path);
                self->status_->say(tr("Saved %1").arg(path));
            } else {
                self->messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
            }
            emit self->sessionSaved(path, problem);
        });
    });
}

void MainWindow::openSession(const QString& path) {
    QPointer<MainWindow> self(this);
    QThreadPool::globalInstance()->start([self, path] {
        auto session = std::make_shared<Result<Session>>(load_session(path.toStdString()));
        QMetaObject::invokeMethod(qApp, [self, path, session] {
            if (!self) return;
            QString problem;
            if (*session) {
                Session& loaded = session->value();
                const std::string model = loaded.experiment.model_path;
                self->edits_.stack().clear();
                self->controller_.adoptSession(loaded);
                if (const auto view = loaded.extra.find("view"); view != loaded.extra.end()) self->applyViewJson(*view);
                if (path != self->lastSessionPath()) {
                    self->session_path_ = path;
                    self->setWindowTitle(QStringLiteral("%1 — Kvasir").arg(QFileInfo(path).fileName()));
                    self->settings_.addRecentFile(path);
                }
                const bool other =
                    !model.empty() && (!self->controller_.model() || self->controller_.model()->file().path() != model);
                if (other && QFileInfo::exists(QString::fromStdString(model)))
                    self->controller_.loadModel(QString::fromStdString(model));
                else if (other)
                    self->messages_->show(
                        QStringLiteral("file"), MessageBar::Kind::warn,
                        tr("The session's model is not here: %1. What was measured is shown; a new run needs a model.")
                            .arg(QString::fromStdString(model)));
                self->status_->show();
                self->updateActions();
            } else {
                problem = QString::fromStdString(session->error().message());
                self->messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
            }
            emit self->sessionOpened(path, problem);
        });
    });
}

QString MainWindow::lastSessionPath() const {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
           QStringLiteral("/kvasir/last.kvasir");
}

void MainWindow::exportWithDialog(const PlotDock* chosen) {
    if (!chosen)
        for (PlotDock* dock : plots_)
            if (dock->isAncestorOf(focusWidget())) chosen = dock;
    ExportDialog dialog(plots_, chosen, settings_, this);
    if (dialog.exec() != QDialog::Accepted) return;
    ExportJob job = dialog.job();
    job.path = QFileDialog::getSaveFileName(this, tr("Export"), folder() + QLatin1Char('/') + dialog.suggestedName());
    if (!job.path.isEmpty()) runJobs({job});
}

void MainWindow::exportAll() {
    const QString folder_path =
        QFileDialog::getExistingDirectory(this, tr("Folder for all plots, the transcript and the session"), folder());
    if (!folder_path.isEmpty()) exportAllTo(folder_path);
}

void MainWindow::exportAllTo(const QString& folder_path) {
    QDir().mkpath(folder_path);
    saveSessionTo(QDir(folder_path).filePath(QStringLiteral("session.kvasir")));
    runJobs(allExports(plots_, folder_path));
}

/// One file per turn of the event loop, so that the window answers while many are written.
void MainWindow::runJobs(std::vector<ExportJob> jobs) {
    struct Work {
        std::vector<ExportJob> jobs;
        size_t next = 0;
        QString problem;
    };
    auto work = std::make_shared<Work>(Work{std::move(jobs), 0, {}});
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, [this, timer, work] {
        if (work->next < work->jobs.size() && work->problem.isEmpty()) {
            const ExportJob& job = work->jobs[work->next++];
            status_->say(tr("Exporting %1 of %2").arg(work->next).arg(work->jobs.size()));
            work->problem = runExport(job, controller_.run());
            return;
        }
        timer->deleteLater();
        timer->stop();
        if (work->problem.isEmpty() && !work->jobs.empty()) {
            settings_.set("files/folder", QFileInfo(work->jobs.back().path).absolutePath());
            status_->say(
                tr("Exported %1 files to %2").arg(work->next).arg(QFileInfo(work->jobs.back().path).absolutePath()));
        } else if (!work->problem.isEmpty()) {
            messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, work->problem);
        }
        emit exported(int(work->next), work->problem);
    });
    timer->start(0);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    // everything with files is taken, so that a refusal can say why
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    event->acceptProposedAction();
    if (urls.isEmpty()) return;
    if (!urls[0].isLocalFile()) {
        messages_->show(
            QStringLiteral("file"), MessageBar::Kind::bad,
            tr("Cannot open %1: only files of this machine can be dropped.").arg(urls[0].toDisplayString()));
        return;
    }
    const QString path = urls[0].toLocalFile();
    QTimer::singleShot(0, this, [this, path] { openPath(path); });  // the drag's source waits for this event to end
    messages_->clear(QStringLiteral("drop"));
    FileKind kind{};
    QString why;
    if (urls.size() > 1 && acceptable(path, &kind, &why))
        messages_->show(QStringLiteral("drop"), MessageBar::Kind::info,
                        tr("One file at a time: %1 is opened.").arg(QFileInfo(path).fileName()));
}

}  // namespace kvasir::ui
