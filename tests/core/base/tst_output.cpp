// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <thread>

#include "core/base/output.h"

using namespace kvasir;

class TestOutput : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    std::string path(const char* name) const { return dir_.filePath(name).toStdString(); }
    static std::string content(const std::string& path) {
        QFile file(QString::fromStdString(path));
        return file.open(QFile::ReadOnly) ? file.readAll().toStdString() : "(not there)";
    }
    static void make(const std::string& path, const char* bytes, mode_t mode = 0644) {
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(bytes);
        file.close();
        QCOMPARE(::chmod(path.c_str(), mode), 0);
    }
    static struct stat of(const std::string& path) {
        struct stat info {};
        ::lstat(path.c_str(), &info);
        return info;
    }
    int entries() const {
        return int(
            QDir(dir_.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot | QDir::System).size());
    }

 private slots:
    void aNewFileFollowsTheUmask() {
        const mode_t before = ::umask(027);
        const Status written = write_output(path("new"), "a");
        ::umask(before);
        QVERIFY(written.ok());
        QCOMPARE(content(path("new")), std::string("a"));
        QCOMPARE(of(path("new")).st_mode & 07777, mode_t(0640));
    }
    void anOldFileKeepsItsMode_data() {
        QTest::addColumn<int>("mode");
        for (const int mode : {0600, 0666, 0755, 0640})
            QTest::newRow(qPrintable(QString::number(mode, 8))) << mode;
    }
    void anOldFileKeepsItsMode() {
        QFETCH(int, mode);
        make(path("old"), "long before", mode_t(mode));
        const ino_t before = of(path("old")).st_ino;
        QVERIFY(write_output(path("old"), "new").ok());
        QCOMPARE(content(path("old")), std::string("new"));
        QCOMPARE(of(path("old")).st_mode & 07777, mode_t(mode));
        QVERIFY(of(path("old")).st_ino != before);  // replaced, not written over
    }
    void linksAreFollowed() {
        make(path("real"), "old", 0600);
        QVERIFY(QDir(dir_.path()).mkdir("sub"));
        QCOMPARE(::symlink("real", path("one").c_str()), 0);
        QCOMPARE(::symlink("../one", path("sub/two").c_str()), 0);
        QVERIFY(write_output(path("sub/two"), "through").ok());
        QVERIFY(S_ISLNK(of(path("one")).st_mode) && S_ISLNK(of(path("sub/two")).st_mode));
        QCOMPARE(content(path("real")), std::string("through"));
        QCOMPARE(of(path("real")).st_mode & 07777, mode_t(0600));
        QCOMPARE(::symlink("sub/later", path("dangling").c_str()), 0);
        QVERIFY(write_output(path("dangling"), "made").ok());
        QCOMPARE(content(path("sub/later")), std::string("made"));
        QCOMPARE(::symlink("loop", path("loop").c_str()), 0);
        QVERIFY(!write_output(path("loop"), "x").ok());
    }
    void everyNameOfAFileShowsTheNewBytes() {
        make(path("first"), "old and longer");
        QCOMPARE(::link(path("first").c_str(), path("second").c_str()), 0);
        const int before = entries();
        QVERIFY(write_output(path("second"), "new").ok());
        QCOMPARE(content(path("first")), std::string("new"));
        QCOMPARE(of(path("first")).st_ino, of(path("second")).st_ino);
        QCOMPARE(entries(), before);
    }
    void devicesAndPipesAreWrittenTo() {
        QVERIFY(write_output("/dev/null", "x").ok());
        QVERIFY(S_ISCHR(of("/dev/null").st_mode));
        const Status full = write_output("/dev/full", "x");
        QVERIFY(!full.ok());
        QVERIFY(full.error().code == ErrorCode::disk);
        QVERIFY(full.error().message().find("the disk is full") != std::string::npos);

        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        QVERIFY(!write_output(path("pipe"), "x").ok());  // nobody reads
        std::string got;
        std::thread reader([&] { got = content(path("pipe")); });
        const std::string much(300000, 'y');  // more than a pipe holds
        const Status written = write_output(path("pipe"), much, [] { return false; });
        reader.join();
        QVERIFY(written.ok());
        QVERIFY(got == much);
        QVERIFY(S_ISFIFO(of(path("pipe")).st_mode));
    }
    void aReaderThatGoesAwayIsAnError() {
        QCOMPARE(::mkfifo(path("gone").c_str(), 0600), 0);
        const int fd = ::open(path("gone").c_str(), O_RDONLY | O_NONBLOCK);
        std::thread closer([&] {
            QTest::qWait(0);
            char byte = 0;
            while (::read(fd, &byte, 1) != 1) {
            }
            ::close(fd);
        });
        const Status written = write_output(path("gone"), std::string(1 << 20, 'z'));
        closer.join();
        QVERIFY(!written.ok());
        QVERIFY(written.error().code == ErrorCode::disk);
    }
    void aFileThatMayNotGrowIsAFullDisk() {
        make(path("kept"), "old");
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const Status written = write_output(path("kept"), std::string(5000, 'x'));
        ::setrlimit(RLIMIT_FSIZE, &before);
        QVERIFY(!written.ok());  // and the program is still there: no SIGXFSZ
        QVERIFY(written.error().code == ErrorCode::disk);
        QCOMPARE(content(path("kept")), std::string("old"));
        QVERIFY(write_output(path("kept"), "new").ok());
    }
    void refusedBeforeWork() {
        make(path("model"), "weights");
        make(path("text"), "words");
        QCOMPARE(::symlink("model", path("alias").c_str()), 0);
        QCOMPARE(::link(path("text").c_str(), path("other-name").c_str()), 0);
        QVERIFY(QDir(dir_.path()).mkdir("folder"));
        const int before = entries();
        OutputPlan plan;
        plan.reads(path("model"), "the model");
        plan.reads(path("text"), "the text");
        plan.reads("", "nothing");
        const auto refused = [&](const std::string& name, ErrorCode code, const char* word) {
            const Status s = plan.writes(name, "--csv");
            return !s.ok() && s.error().code == code && s.error().message().find(word) != std::string::npos &&
                   !s.error().hint.empty();
        };
        for (const char* name : {"model", "alias", "folder/../model", "./model"})
            QVERIFY2(refused(path(name), ErrorCode::usage, "the model"), name);
        QVERIFY(refused(path("other-name"), ErrorCode::usage, "the text"));
        QVERIFY(refused("", ErrorCode::usage, "empty"));
        QVERIFY(refused(path("folder"), ErrorCode::disk, "folder"));
        QVERIFY(refused(path("none/such"), ErrorCode::disk, "there is no folder"));
        QVERIFY(refused(path("folder/"), ErrorCode::disk, "folder"));
        QVERIFY(refused("/dev/full/x", ErrorCode::disk, "Not a directory"));
        QVERIFY(plan.writes(path("a.csv"), "--csv").ok());
        QCOMPARE(::symlink("a.csv", path("b.csv").c_str()), 0);
        for (const char* name : {"a.csv", "folder/../a.csv", "b.csv"}) {
            const Status s = plan.writes(path(name), "--session");
            QVERIFY2(!s.ok() && s.error().message().find("--csv") != std::string::npos, name);
        }
        QVERIFY(plan.writes("/dev/null", "--csv").ok());
        QVERIFY(plan.writes("/dev/null", "--session").ok());
        QCOMPARE(entries(), before + 1);  // the link; nothing else was made or left
        QCOMPARE(content(path("model")), std::string("weights"));
    }
    void aDocumentOnStandardOutputStaysAlone() {
        OutputPlan plan;
        QVERIFY(plan.writes("/dev/stdout", "--csv").ok());
        QVERIFY(!plan.writes("/dev/fd/1", "--session").ok());
        OutputPlan json;
        json.writes_stdout("the JSON document");
        for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
            const Status s = json.writes(name, "--csv");
            QVERIFY2(!s.ok() && s.error().code == ErrorCode::usage, name);
        }
        QVERIFY(json.writes("/dev/stderr", "--csv").ok());
    }
    void aFolderThatTakesNoFiles() {
        if (::geteuid() == 0) QSKIP("root may write everywhere");
        QVERIFY(QDir(dir_.path()).mkdir("closed"));
        make(path("closed/open"), "old");
        make(path("closed/locked"), "old", 0444);
        QCOMPARE(::chmod(path("closed").c_str(), 0500), 0);
        OutputPlan plan;
        const Status none = plan.writes(path("closed/new"), "--csv"),
                     locked = plan.writes(path("closed/locked"), "--csv");
        const Status open = plan.writes(path("closed/open"), "--csv"),
                     written = write_output(path("closed/open"), "new");
        ::chmod(path("closed").c_str(), 0700);
        QVERIFY(!none.ok() && !locked.ok());
        QVERIFY(open.ok() && written.ok());
        QCOMPARE(content(path("closed/open")), std::string("new"));
    }
};

QTEST_APPLESS_MAIN(TestOutput)
#include "tst_output.moc"
