// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/base/byte_size.h"

using namespace kvasir;

class TestByteSize : public QObject {
    Q_OBJECT
 private slots:
    void decimalAndBinaryUnits() {
        const std::pair<const char*, uint64_t> rows[] = {{"80GiB", uint64_t(80) << 30},
                                                         {"80GB", 80'000'000'000},
                                                         {"24000MiB", uint64_t(24000) << 20},
                                                         {"80 gib", uint64_t(80) << 30},
                                                         {"1.5TiB", uint64_t(3) << 39},
                                                         {"2kB", 2000},
                                                         {"2KiB", 2048},
                                                         {"7B", 7}};
        for (const auto& [text, bytes] : rows) {
            const auto read = parse_byte_size(text, "--memory");
            QVERIFY2(read.ok(), text);
            QCOMPARE(*read, bytes);
        }
    }
    void nonsenseIsRefusedInASentence() {
        for (const char* text : {"", "80", "GiB", "80GiBs", "80G", "-3GiB", "0GB", "nanGB", "infGB", "1e3GB", "0x10GB",
                                 "99999999999TiB", "80GiB 2"}) {
            const auto read = parse_byte_size(text, "--memory");
            QVERIFY2(!read.ok(), text);
            QCOMPARE(read.error().code, ErrorCode::usage);
            QVERIFY(read.error().message().find("--memory") != std::string::npos);
            QVERIFY(read.error().message().find("80GiB, 80GB") != std::string::npos);
        }
    }
    void textForPeople() {
        QCOMPARE(byte_size_text(12), std::string("12 B"));
        QCOMPARE(byte_size_text(1536), std::string("1.50 KiB"));
        QCOMPARE(byte_size_text(5'242'880'000), std::string("4.88 GiB"));
        QCOMPARE(byte_size_text(uint64_t(5) << 50), std::string("5120.00 TiB"));
    }
};

QTEST_APPLESS_MAIN(TestByteSize)
#include "tst_byte_size.moc"
