// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "core/base/result.h"

using namespace kvasir;

class TestResult : public QObject {
    Q_OBJECT
 private slots:
    void message_is_one_sentence_and_a_hint() {
        const Error error{ErrorCode::input, "cannot read model", "a.gguf", "it is empty", "Download it again."};
        QCOMPARE(error.message(), std::string("cannot read model in a.gguf: it is empty. Download it again."));
        const Error bare{ErrorCode::usage, "no prompt", "", "", ""};
        QCOMPARE(bare.message(), std::string("no prompt."));
    }

    void result_holds_a_value_or_an_error() {
        const Result<int> value = 7;
        QVERIFY(value.ok());
        QCOMPARE(*value, 7);
        const Result<int> failed = Error{ErrorCode::disk, "what", "where", "why", ""};
        QVERIFY(!failed);
        QCOMPARE(failed.error().code, ErrorCode::disk);
        QVERIFY(Status().ok());
        QVERIFY(!Status(failed.error()).ok());
    }
};

QTEST_APPLESS_MAIN(TestResult)
#include "tst_result.moc"
