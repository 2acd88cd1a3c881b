// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <string>

#include "core/base/sha256.h"

using kvasir::Sha256;

class TestSha256 : public QObject {
    Q_OBJECT
 private slots:
    // FIPS 180-2, appendix B, and the empty text.
    void known_answers() {
        QCOMPARE(kvasir::sha256_hex("", 0),
                 std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QCOMPARE(kvasir::sha256_hex("abc", 3),
                 std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        const std::string million(1000000, 'a');
        QCOMPARE(kvasir::sha256_hex(million.data(), million.size()),
                 std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    }

    void pieces_give_the_sum_of_the_whole() {
        const std::string text(1000, 'x');
        Sha256 sum;
        for (size_t at = 0; at < text.size(); at += 77)
            sum.add(text.data() + at, std::min<size_t>(77, text.size() - at));
        QCOMPARE(sum.hex(), kvasir::sha256_hex(text.data(), text.size()));
    }

    void files() {
        QTemporaryDir dir;
        const QString path = dir.filePath("data");
        // Longer than one read, and not a multiple of it.
        const std::string text((4u << 20) + 12345, 'k');
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text.data(), qint64(text.size()));
        file.close();
        const auto sum = kvasir::sha256_of_file(path.toStdString());
        QVERIFY(sum.ok());
        QCOMPARE(*sum, kvasir::sha256_hex(text.data(), text.size()));

        const auto stopped = kvasir::sha256_of_file(path.toStdString(), [] { return true; });
        QVERIFY(!stopped.ok());
        QCOMPARE(stopped.error().code, kvasir::ErrorCode::interrupted);
        const auto missing = kvasir::sha256_of_file(dir.filePath("missing").toStdString());
        QVERIFY(!missing.ok());
        QVERIFY(missing.error().message().find("missing") != std::string::npos);
        QVERIFY(!kvasir::sha256_of_file(dir.path().toStdString()).ok());  // a directory
    }
};

QTEST_APPLESS_MAIN(TestSha256)
#include "tst_sha256.moc"
