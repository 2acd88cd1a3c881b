// SPDX-License-Identifier: GPL-3.0-or-later
// The conformance suite of malformed GGUF files: each is refused with a sentence that names the fact, none crashes.
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/tokenizer.h"

using namespace kvasir;

namespace {

const QString kSuite = KVASIR_SOURCE_DIR "/tests/conformance/";

/// Everything that reads a model file before its weights are used; "" or the refusal.
std::string load(const QString& path, Error* error = nullptr) {
    const auto refused = [&](const Error& e) {
        if (error) *error = e;
        return e.message();
    };
    const auto file = GgufFile::open(path.toStdString());
    if (!file) return refused(file.error());
    const auto config = read_model_config(**file);
    if (!config) return refused(config.error());
    const auto tokenizer = Tokenizer::from_gguf(**file);
    if (!tokenizer) return refused(tokenizer.error());
    return {};
}

}  // namespace

class TestMalformed : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

 private slots:
    void initTestCase() {
        QProcess python;
        python.start("python3", {kSuite + "make_malformed.py", dir_.path()});
        if (!python.waitForStarted()) QSKIP("python3 is not here: it writes the malformed files");
        QVERIFY(python.waitForFinished(120000));
        QCOMPARE(python.exitCode(), 0);
    }

    void malformed_files_are_refused_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("fact");
        QFile json(kSuite + "gguf_refusals.json");
        QVERIFY(json.open(QIODevice::ReadOnly));
        const QJsonObject refusals = QJsonDocument::fromJson(json.readAll()).object()["refusals"].toObject();
        QCOMPARE(refusals.size(), 99);
        for (const QString& id : refusals.keys()) {
            const QStringList files = QDir(dir_.path()).entryList({id + "_*.gguf"});
            QCOMPARE(files.size(), 1);
            QTest::newRow(qPrintable(files[0])) << dir_.filePath(files[0]) << refusals[id].toString();
        }
    }
    void malformed_files_are_refused() {
        QFETCH(QString, path);
        QFETCH(QString, fact);
        Error error;
        const QString message = QString::fromStdString(load(path, &error));
        QVERIFY2(message.contains(fact), qPrintable("says: " + message));
        QCOMPARE(QString::fromStdString(error.where), path);
        QVERIFY(!error.what.empty() && !error.hint.empty());
        QCOMPARE(error.code, ErrorCode::input);
        QCOMPARE(QString::fromStdString(load(path)), message);  // same file, same message
    }

    void unusual_files_open_data() {
        QTest::addColumn<QString>("path");
        const QStringList files = QDir(dir_.path()).entryList({"W*.gguf", "base.gguf"});
        QCOMPARE(files.size(), 11);
        for (const QString& file : files)
            QTest::newRow(qPrintable(file)) << dir_.filePath(file);
    }
    void unusual_files_open() {
        QFETCH(QString, path);
        QCOMPARE(QString::fromStdString(load(path)), QString());
    }

    // The suite's tokenizer is SentencePiece-like; its scores make the joins below the only right ones.
    void sentencepiece_joins_by_score() {
        const auto file = GgufFile::open(dir_.filePath("base.gguf").toStdString());
        QVERIFY(file.ok());
        const auto loaded = Tokenizer::from_gguf(**file);
        QVERIFY(loaded.ok());
        const Tokenizer& t = **loaded;
        QCOMPARE(t.encode("hello", SpecialTokens::as_text), (std::vector<int>{266, 265, 263}));
        QCOMPARE(t.decode({266, 265, 263}), std::string("hello"));
        // e with acute is no token: its two bytes are.
        QCOMPARE(t.encode("h\xC3\xA9o", SpecialTokens::as_text), (std::vector<int>{259, 260, 3 + 0xC3, 3 + 0xA9, 263}));
        QCOMPARE(t.encode("a<s>hello", SpecialTokens::parse), (std::vector<int>{259, 3 + 'a', 1, 266, 265, 263}));
        QVERIFY(t.encode("<s>", SpecialTokens::as_text).size() > 1);
        QVERIFY(t.encode("", SpecialTokens::parse).empty());
        QVERIFY(t.add_bos());
        QCOMPARE(t.bos(), 1);
        QCOMPARE(t.end_of_generation(), (std::vector<int>{2}));
    }
};

QTEST_GUILESS_MAIN(TestMalformed)
#include "tst_malformed.moc"
