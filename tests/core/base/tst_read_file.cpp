// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <thread>

#include "core/base/read_file.h"

using namespace kvasir;

class TestReadFile : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    std::string path(const char* name) const { return dir_.filePath(name).toStdString(); }

 private slots:
    void aPipeIsReadToItsEnd() {
        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        QVERIFY(!read_file(path("pipe")).ok());
        const std::string much(200000, 'p');
        std::thread writer([&] {
            const int fd = ::open(path("pipe").c_str(), O_WRONLY);
            for (size_t at = 0; at < much.size();)
                at += size_t(::write(fd, much.data() + at, much.size() - at));
            ::close(fd);
        });
        const auto read = read_file_or_pipe(path("pipe"), 1 << 20);
        writer.join();
        QVERIFY(read.ok());
        QVERIFY(*read == much);
    }
    void aPipeWithoutAWriterCanBeLeft() {
        QCOMPARE(::mkfifo(path("silent").c_str(), 0600), 0);
        int asked = 0;
        const auto read = read_file_or_pipe(path("silent"), 1 << 20, [&] { return ++asked > 2; });
        QVERIFY(!read.ok());
        QVERIFY(read.error().code == ErrorCode::interrupted);
    }
    void whatNeverEndsIsBounded() {
        const auto read = read_file_or_pipe("/dev/zero", 100000);
        QVERIFY(!read.ok());
        QVERIFY(read.error().message().find("100000") != std::string::npos);
        QVERIFY(read_file_or_pipe("/dev/null", 100).ok());
        for (const std::string& name : {dir_.path().toStdString(), path("absent")})
            QVERIFY(read_file_or_pipe(name, 100).error().code == ErrorCode::input);
    }
};

QTEST_APPLESS_MAIN(TestReadFile)
#include "tst_read_file.moc"
