// SPDX-License-Identifier: GPL-3.0-or-later
// Files in and out of the window.
#include <QApplication>
#include <QDateTime>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QTimer>
#include <algorithm>

#include "core/base/default_model.h"
#include "ui/lanes/lanes_view.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/export_run.h"
#include "ui/shell/file_kinds.h"
#include "ui/shell/format.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_dialog.h"
#include "ui/shell/run_status.h"
#include "ui/shell/save_name.h"
#include "ui/shell/session_messages.h"

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

/// The file may say anything: what is not in the run is not shown.
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

void MainWindow::connectFiles() {
    files_.setViewSource([this] { return viewJson(); });
    auto* session_messages = new SessionMessages(
        files_, *messages_, [this] { save(true); }, [this] { return mayReplaceResults(); }, this);
    connect(&files_, &SessionFiles::said, this, [this](const QString& text) { status_->say(text); });
    connect(&files_, &SessionFiles::titleChanged, this, &MainWindow::showTitle);
    connect(&files_, &SessionFiles::saved, this, [this](const QString& path, const QString& problem) {
        messages_->clear(QStringLiteral("save"));
        if (problem.isEmpty())
            settings_.addRecentFile(path);
        else
            messages_->show(QStringLiteral("save"), MessageBar::Kind::bad, problem);
        emit sessionSaved(path, problem);
    });
    connect(&files_, &SessionFiles::adopted, this, [this](const Session& session) {
        edits_.stack().clear();
        if (const auto view = session.extra.find("view"); view != session.extra.end()) applyViewJson(*view);
        if (!files_.path().isEmpty()) settings_.addRecentFile(files_.path());
        const QString model = QString::fromStdString(session.experiment.model_path);
        const bool other = !model.isEmpty() && (!controller_.model() ||
                                                QString::fromStdString(controller_.model()->file().path()) != model);
        if (other && QFileInfo::exists(model))
            controller_.loadModel(model);
        else if (other)
            messages_->show(
                QStringLiteral("model"), MessageBar::Kind::warn,
                tr("The session's model is not here: %1. What was measured is shown; a new run needs a model.")
                    .arg(model));
        status_->show();
        updateActions();
    });
    connect(&files_, &SessionFiles::opened, this, [this](const QString& path, const QString& problem) {
        if (!problem.isEmpty()) messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
        emit sessionOpened(path, problem);
    });
    showTitle();
    session_messages->offerUnclosed();
}

void MainWindow::showTitle() {
    const QString title = files_.title();
    setWindowTitle(title.isEmpty() ? QStringLiteral("Kvasir") : QStringLiteral("%1[*] — Kvasir").arg(title));
    setWindowModified(!title.isEmpty() && files_.modified());
}

/// False when results would be lost and the person at the window wants to keep them. Nothing is asked while the journal
/// has them.
bool MainWindow::mayReplaceResults() {
    if (unasked_ || !files_.wouldLoseResults()) return true;
    QMessageBox box(QMessageBox::Warning, tr("Results are not saved"),
                    tr("What is on screen is in no file and could not be kept: %1")
                        .arg(QString::fromStdString(files_.history().state().problem.message())),
                    QMessageBox::Cancel, this);
    QAbstractButton* save_it = box.addButton(tr("Save as …"), QMessageBox::AcceptRole);
    QAbstractButton* drop = box.addButton(tr("Lose the results"), QMessageBox::DestructiveRole);
    box.exec();
    if (box.clickedButton() == save_it) save(true);
    return box.clickedButton() == drop;
}

/// The file of the session may hold another run than the one on screen: asks which of them is to stay.
MainWindow::Keep MainWindow::askWhichRunStays() {
    const int in_file = files_.tokensOfOtherRunInFile();
    if (in_file == 0) return Keep::new_run;
    const RunModel& run = controller_.run();
    const int on_screen = run.empty() ? 0 : int(run.lane(run.info().experiment.reference).size());
    QMessageBox box(QMessageBox::Question, tr("The file holds another run"),
                    tr("%1 holds a run of %2 tokens; the one on screen has %3. Saving replaces the run in the file.")
                        .arg(QFileInfo(files_.path()).fileName(), countText(in_file), countText(on_screen)),
                    QMessageBox::Cancel, this);
    QPushButton* both = box.addButton(tr("Save as …"), QMessageBox::AcceptRole);
    const QAbstractButton* replace = box.addButton(tr("Replace"), QMessageBox::DestructiveRole);
    box.setDefaultButton(both);
    box.exec();
    return box.clickedButton() == both ? Keep::both : box.clickedButton() == replace ? Keep::new_run : Keep::undecided;
}

void MainWindow::save(bool ask_name) {
    if (!ask_name) {
        const Keep keep = askWhichRunStays();
        if (keep == Keep::undecided) return;
        ask_name = keep == Keep::both;
    }
    QString path = files_.path();
    if (ask_name || path.isEmpty() || !files_.mayOverwrite()) {
        QString problem;
        path = askForSaveName(this, tr("Save session"),
                              path.isEmpty() ? folder() + QStringLiteral("/experiment.kvasir") : path,
                              QStringLiteral("kvasir"), tr("Kvasir sessions (*.kvasir)"), &problem);
        if (!problem.isEmpty()) messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
        if (path.isEmpty()) return;
    }
    saveSessionTo(path);
}

void MainWindow::openSession(const QString& path) {
    if (mayReplaceResults()) files_.open(path);
}

void MainWindow::exportWithDialog(const PlotDock* chosen) {
    if (!chosen)
        for (PlotDock* dock : plots_)
            if (dock->isAncestorOf(focusWidget())) chosen = dock;
    ExportDialog dialog(plots_, chosen, settings_, this);
    if (dialog.exec() != QDialog::Accepted) return;
    const ExportChoice choice = dialog.choice();
    QString problem;
    const QString path = askForSaveName(this, tr("Export"), folder() + QLatin1Char('/') + dialog.suggestedName(),
                                        choice.format, QString(), &problem);
    if (!problem.isEmpty()) messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
    if (!path.isEmpty()) runJobs({exportJob(choice, controller_.sharedRun(), path)});
}

void MainWindow::exportAll() {
    const QString chosen = QFileDialog::getExistingDirectory(
        this, tr("Folder for all plots, tables, the transcript and the session"), folder());
    if (chosen.isEmpty()) return;
    // beside what is there, not over it
    const QString own =
        QStringLiteral("kvasir-") + QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd-HHmmss"));
    exportAllTo(QDir(chosen).isEmpty() ? chosen : QDir(chosen).filePath(own));
}

void MainWindow::exportAllTo(const QString& folder_path) {
    QDir().mkpath(folder_path);
    Session session = controller_.session();
    session.extra["view"] = viewJson();
    runJobs(allExports(plots_, controller_, view_, session, folder_path));
}

void MainWindow::runJobs(std::vector<ExportJob> jobs) {
    if (jobs.empty()) return;
    std::vector<std::pair<QString, QString>> inputs{{files_.path(), tr("the session")}};
    if (controller_.model())
        inputs.emplace_back(QString::fromStdString(controller_.model()->file().path()), tr("the model"));
    if (const QString why = refusal(jobs, inputs); !why.isEmpty()) {
        messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, why);
        emit exported(0, why);
        return;
    }
    const QString folder_path = QFileInfo(jobs.front().path).absolutePath();
    auto* run = new ExportRun(std::move(jobs), this);
    connect(run, &ExportRun::progressed, this, [this](const QString& words) { status_->say(words); });
    connect(run, &ExportRun::finished, this,
            [this, folder_path](int n, const QString& problem, const QStringList& out) {
                for (PlotDock* dock : plots_)
                    dock->plot()->lookAgain();
                if (problem.isEmpty()) {
                    settings_.set("files/folder", folder_path);
                    status_->say(tr("Exported %1 files to %2").arg(n).arg(folder_path));
                    if (!out.isEmpty())
                        messages_->show(QStringLiteral("file"), MessageBar::Kind::warn,
                                        tr("Not exported, because there was nothing to show: %1 (%2 files in all).")
                                            .arg(out.constFirst())
                                            .arg(out.size()));
                } else {
                    messages_->show(QStringLiteral("file"), MessageBar::Kind::bad, problem);
                }
                emit exported(n, problem);
            });
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
