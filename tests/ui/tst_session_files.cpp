// SPDX-License-Identifier: GPL-3.0-or-later
// Session files without a window: what is saved, what is unsaved, who has the file, which runs can be shown again.
#include <QApplication>
#include <QFile>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "core/session/run_fixture.h"
#include "support/killed_run.h"
#include "support/little_memory.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/quit_signals.h"
#include "ui/shell/recent_runs_menu.h"
#include "ui/shell/session_files.h"
#include "ui/shell/session_messages.h"

using namespace kvasir;
using namespace kvasir::ui;
using namespace kvasir::test;

namespace {

const QString kModel = QString::fromStdString(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));

/// What a window is made of, as far as sessions are concerned.
struct Desk {
    RunController controller;
    SessionFiles files;
    MessageArea messages;
    int n_save_as = 0;
    SessionMessages said;
    RecentRunsMenu recent;

    explicit Desk(const QString& data, bool with_model = true)
        : files(controller, data),
          said(
              files, messages, [this] { ++n_save_as; }, [] { return true; }),
          recent(files, [] { return true; }) {
        controller.setExperiment(experiment({"fp16", "quanto:4,residual=32"}, 6));
        said.offerUnclosed();
        if (!with_model) return;
        controller.loadModel(kModel);
        if (!QTest::qWaitFor([this] { return controller.model() != nullptr; }, 60000)) qFatal("no model");
    }
    void run() {
        QSignalSpy began(&controller, &RunController::runBegan);
        controller.start();
        if (!QTest::qWaitFor([&] { return !began.isEmpty() && controller.runIsOver(); }, 60000)) qFatal("no run");
    }
    void setTokens(int n) {
        Experiment e = controller.experiment();
        e.n_tokens = n;
        controller.setExperiment(e);
    }
    size_t shown() const { return controller.run().empty() ? 0 : controller.run().lane(0).size(); }

    /// The problem that was reported, "" when there was none.
    template <class Do>
    QString opened(Do&& what) {
        QSignalSpy done(&files, &SessionFiles::opened);
        what();
        if (!QTest::qWaitFor([&] { return !done.isEmpty(); }, 60000)) qFatal("nothing opened");
        return done[0][1].toString();
    }
    QString open(const QString& path) {
        return opened([&] { files.open(path); });
    }
    QString save(const QString& path) {
        QSignalSpy done(&files, &SessionFiles::saved);
        files.saveTo(path);
        if (!QTest::qWaitFor([&] { return !done.isEmpty(); }, 60000)) qFatal("nothing saved");
        return done[0][1].toString();
    }
    QPushButton* button(const QString& key, const QString& text) const {
        MessageBar* bar = messages.message(key);
        if (bar)
            for (QPushButton* b : bar->findChildren<QPushButton*>())
                if (b->text() == text) return b;
        return nullptr;
    }
    QString sentence(const QString& key) const {
        MessageBar* bar = messages.message(key);
        return bar ? bar->sentence() : QString();
    }
};

}  // namespace

class TestSessionFiles : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> data_;

    std::string runs() const { return data_->filePath(QStringLiteral("runs")).toStdString(); }
    QString file(const char* name) const { return data_->filePath(QLatin1String(name)); }

 private slots:
    void init() { data_ = std::make_unique<QTemporaryDir>(); }

    void whatDoesNotFitIntoMemorySaysSo() {
        if (!kMemoryCanBeLittle) QSKIP("sanitizers need all address space");
        Desk desk(data_->path());
        desk.run();
        QFile large(file("large.kvasir"));
        QVERIFY(large.open(QIODevice::WriteOnly) && large.resize(qint64(700) << 20));
        const LittleMemory little(size_t(200) << 20);
        const QString open = desk.open(large.fileName());
        QVERIFY2(open.contains(QStringLiteral("does not fit into memory")), qPrintable(open));
        const QString restored = desk.opened([&] { desk.files.restoreRun(large.fileName()); });
        QVERIFY2(restored.contains(QStringLiteral("does not fit into memory")), qPrintable(restored));
        QCOMPARE(desk.shown(), size_t(6));  // what was there stays, and can be saved
        QCOMPARE(desk.save(file("small.kvasir")), QString());
    }

    void killedRunsAreOfferedOnce() {
        leave_a_killed_run(runs(), 3);
        leave_a_killed_run(runs(), 5);
        Desk desk(data_->path(), false);
        const QString five = desk.sentence(QStringLiteral("recover-0")).contains(QStringLiteral("5 of 5"))
                                 ? QStringLiteral("recover-0")
                                 : QStringLiteral("recover-1");
        QVERIFY(desk.sentence(five).contains(QStringLiteral("was not closed: 5 of 5 tokens")));
        QCOMPARE(desk.opened([&] { desk.button(five, QStringLiteral("Restore"))->click(); }), QString());
        QCOMPARE(desk.shown(), size_t(5));
        QVERIFY(desk.files.title().startsWith(QStringLiteral("Run of ")) && desk.files.modified());
        QVERIFY(!desk.messages.message(five));
        Desk second(data_->path(), false);  // the restored one has an owner now
        QVERIFY(second.sentence(QStringLiteral("recover-0")).contains(QStringLiteral("3 of 3")));
        QVERIFY(!second.messages.message(QStringLiteral("recover-1")));
        QCOMPARE(desk.files.leave(), QString());
        desk.files.closeRuns();
        QVERIFY(second.files.hasLastSession());
        QCOMPARE(second.opened([&] { second.files.openLastSession(); }), QString());
        QCOMPARE(second.shown(), size_t(5));
        QVERIFY(second.files.path().isEmpty());  // Save asks for a name
    }

    void aDiscardedRunIsGone() {
        leave_a_killed_run(runs(), 3);
        Desk desk(data_->path(), false);
        desk.button(QStringLiteral("recover-0"), QStringLiteral("Discard"))->click();
        QVERIFY(!desk.messages.message(QStringLiteral("recover-0")));
        QVERIFY(list_journals(runs()).empty());
    }

    void replacedRunsStayReachable() {
        Desk desk(data_->path());
        desk.run();
        const std::vector<StepRecord> first = desk.controller.run().lane(1);
        desk.setTokens(4);
        desk.run();
        QCOMPARE(desk.shown(), size_t(4));
        emit desk.recent.aboutToShow();
        QCOMPARE(desk.recent.actions().size(), 1);
        QVERIFY2(desk.recent.actions()[0]->text().contains(QStringLiteral("6 of 6 tokens")),
                 qPrintable(desk.recent.actions()[0]->text()));
        QCOMPARE(desk.opened([&] { desk.recent.actions()[0]->trigger(); }), QString());
        const std::vector<StepRecord>& again = desk.controller.run().lane(1);
        QCOMPARE(again.size(), first.size());
        for (size_t i = 0; i < first.size(); ++i)
            QCOMPARE(again[i].kl, first[i].kl);
        // the run of 4 tokens was not saved and left the screen
        QVERIFY(desk.sentence(QStringLiteral("kept")).contains(QStringLiteral("4 of 4 tokens")));
        QCOMPARE(desk.opened([&] { desk.button(QStringLiteral("kept"), QStringLiteral("Show it"))->click(); }),
                 QString());
        QCOMPARE(desk.shown(), size_t(4));
        // and so it is when a session of a file takes its place
        QCOMPARE(desk.save(file("four.kvasir")), QString());
        desk.setTokens(5);
        desk.run();
        QCOMPARE(desk.open(file("four.kvasir")), QString());
        QVERIFY(desk.sentence(QStringLiteral("kept")).contains(QStringLiteral("5 of 5 tokens")));
    }

    void theTitleSaysWhatIsSaved() {
        Desk desk(data_->path());
        QVERIFY(desk.files.title().isEmpty() && !desk.files.modified());
        desk.run();
        QCOMPARE(desk.files.title(), QStringLiteral("Untitled"));
        QVERIFY(desk.files.modified());
        QVERIFY(desk.files.path().isEmpty());
        QVERIFY(!list_journals(runs())[0].closed);
        QCOMPARE(desk.save(file("a.kvasir")), QString());
        QCOMPARE(desk.files.title(), QStringLiteral("a.kvasir"));
        QVERIFY(!desk.files.modified());
        QVERIFY(list_journals(runs())[0].closed);  // it is in a file of the user's
        desk.setTokens(3);
        QVERIFY(desk.files.modified());
        desk.setTokens(6);
        QVERIFY(!desk.files.modified());
    }

    void neverSavesOverTheModel() {
        QVERIFY(QFile::copy(kModel, file("m.gguf")));
        Desk desk(data_->path(), false);
        desk.controller.loadModel(file("m.gguf"));
        QVERIFY(QTest::qWaitFor([&] { return desk.controller.model() != nullptr; }, 60000));
        const auto before = QFileInfo(file("m.gguf")).size();
        QVERIFY(!desk.save(file("m.gguf")).isEmpty());
        QCOMPARE(QFileInfo(file("m.gguf")).size(), before);
        QVERIFY(!desk.save(file("no/such/folder.kvasir")).isEmpty());
        QVERIFY(!desk.save(data_->path()).isEmpty());
    }

    void aSecondProgramIsWarned() {
        auto desk = std::make_unique<Desk>(data_->path());
        desk->run();
        QCOMPARE(desk->save(file("b.kvasir")), QString());
        Desk other(data_->path(), false);
        QCOMPARE(other.open(file("b.kvasir")), QString());
        QVERIFY(other.sentence(QStringLiteral("shared")).contains(QStringLiteral("open in another program")));
        QVERIFY(!other.files.mayOverwrite() && desk->files.mayOverwrite());
        QVERIFY(other.save(file("b.kvasir")).contains(QStringLiteral("open in another program")));
        desk.reset();  // its owner is gone: now the other one may
        QCOMPARE(other.save(file("b.kvasir")), QString());
        QVERIFY(other.files.mayOverwrite());
    }

    void aFolderThatCannotBeWrittenSaysSo() {
        QFile blocked(
            file("runs"));  // root may write into read-only folders, so a file stands where the folder should be
        QVERIFY(blocked.open(QIODevice::WriteOnly));
        blocked.close();
        Desk desk(data_->path());
        desk.run();
        QCOMPARE(desk.shown(), size_t(6));  // the run goes on
        QVERIFY(desk.sentence(QStringLiteral("journal")).contains(QStringLiteral("cannot be kept")));
        desk.button(QStringLiteral("journal"), QStringLiteral("Save as …"))->click();
        QCOMPARE(desk.n_save_as, 1);
        QVERIFY(desk.files.wouldLoseResults());
        QCOMPARE(desk.save(file("elsewhere.kvasir")), QString());
        QVERIFY(!desk.files.wouldLoseResults());
    }

    void signalsQuitOnce() {
        int n_quits = 0;
        QuitSignals quit([&] { ++n_quits; });
        std::raise(SIGHUP);
        std::raise(SIGINT);
        QTRY_COMPARE(n_quits, 1);
        QTest::qWait(50);
        QCOMPARE(n_quits, 1);
    }
};

QTEST_MAIN(TestSessionFiles)
#include "tst_session_files.moc"
