// SPDX-License-Identifier: GPL-3.0-or-later
// The real window: killed runs are offered, the last session is one click away, signals quit, hostile sessions open.
#include <QApplication>
#include <QFile>
#include <QMenu>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <csignal>

#include "core/base/read_file.h"
#include "core/session/hostile.h"
#include "core/session/run_fixture.h"
#include "support/killed_run.h"
#include "ui/plots/plot_view.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/quit_signals.h"
#include "ui/shell/run_status.h"
#include "ui/shell/start_banner.h"

using namespace kvasir;
using namespace kvasir::ui;
using namespace kvasir::test;

namespace {

const QString kModel = QString::fromStdString(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));

QPushButton* button(QWidget* in, const QString& text) {
    if (in)
        for (QPushButton* b : in->findChildren<QPushButton*>())
            if (b->text() == text) return b;
    return nullptr;
}

}  // namespace

class TestRecovery : public QObject {
    Q_OBJECT
    Settings settings_{false};
    std::unique_ptr<QTemporaryDir> data_;

    std::unique_ptr<MainWindow> makeWindow(bool with_model = true) {
        auto window = std::make_unique<MainWindow>(settings_, data_->path());
        window->resize(1300, 760);
        window->show();
        Experiment e = experiment({"fp16", "quanto:4,residual=32"}, 6);
        window->controller().setExperiment(e);
        if (!with_model) return window;
        window->openPath(kModel, false);
        if (!QTest::qWaitFor([&] { return window->controller().model() != nullptr; }, 60000)) qFatal("no model");
        return window;
    }
    static bool finished(MainWindow& window) {
        return QTest::qWaitFor([&] { return window.controller().runIsOver(); }, 60000);
    }
    static void run(MainWindow& window) {
        QSignalSpy began(&window.controller(), &RunController::runBegan);
        window.actions()["run"]->trigger();
        if (!QTest::qWaitFor([&] { return !began.isEmpty(); }, 60000) || !finished(window)) qFatal("no run");
    }
    static size_t shown(MainWindow& window) {
        return window.controller().run().empty() ? 0 : window.controller().run().lane(0).size();
    }
    QString runs() const { return data_->filePath(QStringLiteral("runs")); }

 private slots:
    void init() { data_ = std::make_unique<QTemporaryDir>(); }

    void offersRunsThatWereNotClosed() {
        leave_a_killed_run(runs().toStdString(), 3);
        leave_a_killed_run(runs().toStdString(), 5);
        QFile damaged(runs() + QStringLiteral("/1-damaged.journal"));
        QVERIFY(damaged.open(QIODevice::WriteOnly) && damaged.write("what is this?\n") > 0);
        damaged.close();
        auto window = makeWindow();
        int five = -1, n_bad = 0;
        for (int i = 0; i < 3; ++i) {
            MessageBar* bar = window->messages().message(QStringLiteral("recover-%1").arg(i));
            QVERIFY(bar);
            if (bar->sentence().contains(QStringLiteral("was not closed: 5 of 5 tokens"))) five = i;
            n_bad += bar->sentence().contains(QStringLiteral("damaged"));
        }
        QCOMPARE(n_bad, 1);
        QVERIFY(five >= 0);
        QSignalSpy opened(window.get(), &MainWindow::sessionOpened);
        button(window->messages().message(QStringLiteral("recover-%1").arg(five)), QStringLiteral("Restore"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
        QCOMPARE(opened[0][1].toString(), QString());
        QCOMPARE(shown(*window), size_t(5));
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("Run of ")) && window->isWindowModified());
        QVERIFY(!window->messages().message(QStringLiteral("recover-%1").arg(five)));
        QVERIFY2(window->status().text().contains(QStringLiteral("5 of 5 tokens")),
                 qPrintable(window->status().text()));
        {  // it belongs to this window now: a second one is offered the others only
            auto second = makeWindow(false);
            QVERIFY(second->messages().message(QStringLiteral("recover-1")));
            QVERIFY(!second->messages().message(QStringLiteral("recover-2")));
        }
        window->close();
        auto next = makeWindow(false);  // closed cleanly: not offered, but one click away
        QVERIFY(!next->messages().message(QStringLiteral("recover-2")));
        QPushButton* last = button(next.get(), QStringLiteral("Last session"));
        QVERIFY(last && last->isVisible());
        QSignalSpy again(next.get(), &MainWindow::sessionOpened);
        last->click();
        QTRY_COMPARE_WITH_TIMEOUT(again.size(), 1, 30000);
        QCOMPARE(shown(*next), size_t(5));
    }

    void theTitleSaysWhatIsSaved() {
        auto window = makeWindow();
        QCOMPARE(window->windowTitle(), QStringLiteral("Kvasir"));
        QVERIFY(!window->isWindowModified());
        run(*window);
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("Untitled[*]")) && window->isWindowModified());
        QSignalSpy saved(window.get(), &MainWindow::sessionSaved), exported(window.get(), &MainWindow::exported);
        window->exportAllTo(data_->filePath(QStringLiteral("all")));
        QTRY_COMPARE_WITH_TIMEOUT(exported.size(), 1, 60000);
        QCOMPARE(exported[0][1].toString(), QString());
        QVERIFY(QFile::exists(data_->filePath(QStringLiteral("all/session.kvasir"))));
        QVERIFY(window->files().path().isEmpty());  // Export all is no Save
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("Untitled[*]")) && window->isWindowModified());
        const QString path = data_->filePath(QStringLiteral("a.kvasir"));
        window->saveSessionTo(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 60000);
        QCOMPARE(window->files().path(), path);
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("a.kvasir[*]")) && !window->isWindowModified());
        QCOMPARE(list_journals(runs().toStdString())[0].closed, true);  // it is in a file of the user's
        Experiment e = window->controller().experiment();
        e.n_tokens = 3;
        window->edits().apply(QStringLiteral("fewer"), e);
        QVERIFY(window->isWindowModified());
        window->edits().stack().undo();
        QVERIFY(!window->isWindowModified());
    }

    void aRunInPlaceOfUnsavedResultsSaysWhereTheyStay() {
        auto window = makeWindow();
        run(*window);
        QVERIFY(!window->messages().message(QStringLiteral("kept")));
        QString said;
        connect(&window->files(), &SessionFiles::kept, window.get(),
                [&] { said = window->messages().message(QStringLiteral("kept"))->sentence(); });
        run(*window);
        QVERIFY2(said.contains(QStringLiteral("stays under File > Recent runs: 6 of 6 tokens")), qPrintable(said));
        QVERIFY(!window->messages().message(QStringLiteral("kept")));  // no news any more when the new run is over
        said.clear();
        QSignalSpy saved(window.get(), &MainWindow::sessionSaved),
            began(&window->controller(), &RunController::runBegan);
        window->saveSessionTo(data_->filePath(QStringLiteral("a.kvasir")));
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 60000);
        window->actions()["step"]->trigger();  // the first step of a new run; the results are saved
        QTRY_COMPARE_WITH_TIMEOUT(began.size(), 1, 60000);
        QCOMPARE(said, QString());
        QTRY_COMPARE_WITH_TIMEOUT(shown(*window), size_t(1), 60000);
        window->actions()["run"]->trigger();
        QVERIFY2(said.contains(QStringLiteral("1 of 6 tokens")), qPrintable(said));
    }

    void aTextThatCannotBeRunSaysWhy() {
        auto window = makeWindow();
        auto* banner = window->findChild<StartBanner*>();
        QVERIFY(banner->runButton()->isEnabled());
        const auto use = [&](const char* text, bool score) {
            Experiment e = window->controller().experiment();
            e.prompt = text, e.score_text = score, e.mode = Mode::teacher_forced;
            window->edits().apply(QStringLiteral("text"), e);
        };
        use("", false);
        QTRY_VERIFY_WITH_TIMEOUT(!banner->runButton()->isEnabled(), 10000);
        use("the keeper", false);
        QTRY_VERIFY_WITH_TIMEOUT(banner->runButton()->isEnabled(), 10000);
        use("the", true);  // shorter than what is read as the prompt
        QTRY_VERIFY_WITH_TIMEOUT(!banner->runButton()->isEnabled(), 10000);
        for (int i = 0; i < 2; ++i) {  // the toolbar and F5 say it each time
            window->messages().clear(QStringLiteral("failure"));
            window->actions()["run"]->trigger();
            QTRY_VERIFY_WITH_TIMEOUT(window->messages().message(QStringLiteral("failure")), 10000);
        }
        window->edits().stack().undo();
        QTRY_VERIFY_WITH_TIMEOUT(banner->runButton()->isEnabled(), 10000);
        QVERIFY(!window->messages().message(QStringLiteral("failure")));
        QVERIFY2(!window->status().text().contains(QStringLiteral("Not done")), qPrintable(window->status().text()));
    }

    void savingOverAnotherRunAsks() {
        auto window = makeWindow();
        const QString path = data_->filePath(QStringLiteral("a.kvasir"));
        const auto inFile = [&] { return load_session(path.toStdString()).value().run.lane(0).size(); };
        const auto answer = [&](const QString& label) {
            QTimer::singleShot(300, this, [label] {
                auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
                if (!box) qFatal("nothing was asked");
                if (!box->text().contains(QStringLiteral("a.kvasir holds a run of 6 tokens"))) qFatal("wrong words");
                for (QAbstractButton* b : box->buttons())
                    if (b->text().remove(QLatin1Char('&')) == label) return b->click();
                qFatal("no such button");
            });
        };
        run(*window);
        QSignalSpy saved(window.get(), &MainWindow::sessionSaved);
        window->saveSessionTo(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 60000);
        window->actions()["save"]->trigger();  // the same run: nothing to ask
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 2, 60000);
        window->actions()["step"]->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(shown(*window), size_t(1), 60000);
        answer(QStringLiteral("Cancel"));
        window->actions()["save"]->trigger();
        QTest::qWait(200);
        QCOMPARE(saved.size(), 2);
        QCOMPARE(inFile(), size_t(6));
        answer(QStringLiteral("Replace"));
        window->actions()["save"]->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 3, 60000);
        QCOMPARE(inFile(), size_t(1));
    }

    void aRunAfterARestoredOneHasNoNameOfIt() {
        leave_a_killed_run(runs().toStdString(), 3);
        auto window = makeWindow();
        QSignalSpy opened(window.get(), &MainWindow::sessionOpened);
        button(window->messages().message(QStringLiteral("recover-0")), QStringLiteral("Restore"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(opened.size(), 1, 30000);
        QVERIFY(window->windowTitle().startsWith(QStringLiteral("Run of ")));
        run(*window);
        QVERIFY2(window->windowTitle().startsWith(QStringLiteral("Untitled[*]")), qPrintable(window->windowTitle()));
    }

    void aSessionWhoseModelHasChangedSaysSo() {
        const QString model = data_->filePath(QStringLiteral("m.gguf")),
                      session = data_->filePath(QStringLiteral("a.kvasir"));
        QVERIFY(QFile::copy(kModel, model));
        {
            auto window = makeWindow(false);
            window->openPath(model, false);
            QTRY_VERIFY_WITH_TIMEOUT(window->controller().model() != nullptr, 60000);
            run(*window);
            QSignalSpy saved(window.get(), &MainWindow::sessionSaved);
            window->saveSessionTo(session);
            QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, 60000);
        }
        for (const bool changed : {false, true}) {
            if (changed) {
                QVERIFY(QFile::remove(model));
                QVERIFY(QFile::copy(QString::fromStdString(source_path("tests/golden/models/gguf/llama-gqa-F16.gguf")),
                                    model));
            }
            auto window = makeWindow(false);
            window->openSession(session);
            QTRY_VERIFY_WITH_TIMEOUT(window->controller().model() != nullptr, 60000);
            QCOMPARE(shown(*window), size_t(6));
            MessageBar* bar = window->messages().message(QStringLiteral("other-model"));
            QCOMPARE(bar != nullptr, changed);
            if (!changed) continue;
            QVERIFY2(bar->sentence().contains(QStringLiteral("m.gguf is not the file this run was made with")),
                     qPrintable(bar->sentence()));
            run(*window);  // and leaves with its cause
            QVERIFY(!window->messages().message(QStringLiteral("other-model")));
        }
    }

    void aHomeThatCannotBeWrittenSaysSoAndAsks() {
        QFile file(runs());  // root may write into read-only folders, so a file stands where the folder should be
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        auto window = makeWindow();
        run(*window);
        QCOMPARE(shown(*window), size_t(6));  // the run goes on
        MessageBar* bar = window->messages().message(QStringLiteral("journal"));
        QVERIFY(bar && bar->sentence().contains(QStringLiteral("cannot be kept")));
        QVERIFY(button(bar, QStringLiteral("Save as …")));
        bool asked = false;
        QTimer::singleShot(300, this, [&] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            asked = box != nullptr;
            if (box) box->button(QMessageBox::Cancel)->click();
        });
        QSignalSpy began(&window->controller(), &RunController::runBegan);
        window->actions()["run"]->trigger();
        QVERIFY(asked);
        QTest::qWait(200);
        QVERIFY(began.isEmpty());
        QCOMPARE(shown(*window), size_t(6));
    }

    void hostileSessionsCanBeShown() {
        auto window = makeWindow(false);
        const auto document = nlohmann::json::parse(*read_file(source_path("tests/core/session/small.kvasir")));
        int n_opened = 0, n = 0;
        each_hostile(document, [&](const std::string& at, const nlohmann::json& j) {
            if (++n % 7 != 0 && at.find("/view") == std::string::npos) return;
            const auto session = session_from_json(j, "F");
            if (!session || ++n_opened % 3 != 0) return;
            QFile file(data_->filePath(QStringLiteral("x.kvasir")));
            if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(j.dump())) < 0) qFatal("disk");
            file.close();
            QSignalSpy opened(window.get(), &MainWindow::sessionOpened);
            window->openSession(file.fileName());
            if (!QTest::qWaitFor([&] { return !opened.isEmpty(); }, 30000)) qFatal("%s", at.c_str());
            if (!opened[0][1].toString().isEmpty()) qFatal("%s", qPrintable(opened[0][1].toString()));
            for (PlotDock* dock : window->plotDocks())
                dock->plot()->csv();
            if (n_opened % 15 == 0) window->grab();
        });
        QVERIFY(n_opened > 50);
    }

    /// The whole program: a signal ends it with everything kept, a kill leaves a run that the next start offers.
    void theProgramKeepsItsRunsHoweverItEnds_data() {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
        QTest::newRow("SIGHUP") << SIGHUP;
        QTest::newRow("SIGKILL") << SIGKILL;
    }
    void theProgramKeepsItsRunsHoweverItEnds() {
        QFETCH(int, signal);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("HOME"), data_->path());
        environment.insert(QStringLiteral("XDG_DATA_HOME"), data_->filePath(QStringLiteral("data")));
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), data_->filePath(QStringLiteral("config")));
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        {
            QSettings remembered(data_->filePath(QStringLiteral("config/kvasir/kvasir.ini")), QSettings::IniFormat);
            const Experiment e = experiment({"fp16", "quanto:4,residual=32"}, 80);
            remembered.setValue(QStringLiteral("experiment/last"),
                                QByteArray::fromStdString(experiment_to_json(e).dump()));
        }
        QProcess program;
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::ForwardedChannels);
        program.start(QStringLiteral(KVASIR_WINDOW), {QStringLiteral("--run"), kModel});
        QVERIFY(program.waitForStarted());
        const std::string folder = data_->filePath(QStringLiteral("data/kvasir/runs")).toStdString();
        QVERIFY(QTest::qWaitFor(
            [&] {
                const auto all = list_journals(folder);
                return !all.empty() && all[0].n_done > 0;
            },
            120000));
        const int n_done = list_journals(folder)[0].n_done;
        QVERIFY(list_journals(folder)[0].in_use);
        QCOMPARE(::kill(pid_t(program.processId()), signal), 0);
        QVERIFY(program.waitForFinished(60000));
        const auto after = list_journals(folder);
        QCOMPARE(after.size(), size_t(1));
        QVERIFY(!after[0].in_use && after[0].n_done >= n_done);
        const std::string last = data_->filePath(QStringLiteral("data/kvasir/last.kvasir")).toStdString();
        if (signal == SIGKILL) {
            QVERIFY(!after[0].closed);
            QCOMPARE(int(read_journal(after[0].path)->run.lane(0).size()), after[0].n_done);
            return;
        }
        QCOMPARE(program.exitStatus(), QProcess::NormalExit);
        QCOMPARE(program.exitCode(), 0);
        QVERIFY(after[0].closed);
        const auto session = load_session(last);
        QVERIFY2(session.ok(), session ? "" : session.error().message().c_str());
        QCOMPARE(int(session->run.lane(0).size()), after[0].n_done);
    }
};

QTEST_MAIN(TestRecovery)
#include "tst_recovery.moc"
