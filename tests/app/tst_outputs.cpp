// SPDX-License-Identifier: GPL-3.0-or-later
// Files the command line writes: refused before work starts, never over what it reads, and no result lost to them.
#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>

#include "app/cli_process.h"
#include "support/golden.h"

using namespace kvasir::test;
using nlohmann::json;

namespace {

const QString kTiny = QString::fromStdString(golden_path("models/gguf/llama-gqa-Q4_1.gguf"));

QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : "(not there)";
}

}  // namespace

class TestOutputs : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    QString path(const char* name) const { return dir_.filePath(name); }
    static bool make(const QString& path, const QByteArray& bytes) {
        QFile file(path);
        return file.open(QFile::WriteOnly) && file.write(bytes) == bytes.size();
    }
    QStringList eval(const QStringList& more) const {
        return QStringList{"eval",     "--model", path("model.gguf"), "--text", path("text.txt"), "--prefill", "4",
                           "--tokens", "10",      "--cache",          "fp16",   "--quiet"} +
               more;
    }

 private slots:
    void initTestCase() {
        QVERIFY(QFile::copy(kTiny, path("model.gguf")));
        QVERIFY(make(path("text.txt"), QByteArray("the keeper wrote the names in a book. ").repeated(4)));
        QCOMPARE(cli({"record", "--model", path("model.gguf"), "--tokens", "24", "--layers", "0", "--out",
                      path("kv.safetensors"), "--quiet"})
                     .status,
                 0);
    }
    void nothingIsWrittenOverWhatIsRead_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("input");
        const QString model = path("model.gguf"), text = path("text.txt"), kv = path("kv.safetensors");
        QTest::newRow("eval, model") << eval({"--per-token", model}) << model;
        QTest::newRow("eval, text") << eval({"--per-token", path("../") + QDir(dir_.path()).dirName() + "/text.txt"})
                                    << text;
        const QStringList run{"run",      "--model", model,     "--prompt", "the",
                              "--tokens", "3",       "--cache", "fp16",     "--quiet"};
        QTest::newRow("run, csv") << run + QStringList{"--csv", model} << model;
        QTest::newRow("run, session") << run + QStringList{"--session", model} << model;
        QTest::newRow("record, text") << QStringList{"record", "--model",  model, "--text", text, "--tokens",
                                                     "8",      "--layers", "0",   "--out",  text}
                                      << text;
        QTest::newRow("quantize, in") << QStringList{"quantize",          "--in",   kv,  "--tensor",
                                                     "layer0.k",          "--side", "k", "--cache",
                                                     "quanto:4,group=16", "--out",  kv}
                                      << kv;
        QTest::newRow("replay, in") << QStringList{"replay", "--in",      kv,  "--layer", "layer0", "--cache",
                                                   "fp16",   "--prefill", "4", "--out",   kv}
                                    << kv;
        QTest::newRow("logits, model") << QStringList{"logits", "--model", model, "--ids", "5,9", "--out", model}
                                       << model;
    }
    void nothingIsWrittenOverWhatIsRead() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, input);
        const QByteArray before = content(input);
        const Outcome o = cli(arguments);
        QVERIFY2(o.status == 2, o.err.constData());
        QVERIFY2(o.err.startsWith("error: cannot write --"), o.err.constData());
        QVERIFY(content(input) == before);
    }
    void twoOutputsAreTwoFiles() {
        QVERIFY(QFile::link(path("one.csv"), path("alias.csv")));
        const Outcome o = cli({"run", "--model", path("model.gguf"), "--prompt", "the", "--tokens", "3", "--cache",
                               "fp16", "--csv", path("one.csv"), "--session", path("alias.csv")});
        QVERIFY2(o.status == 2, o.err.constData());
        QVERIFY2(o.err.contains("--csv"), o.err.constData());
        QVERIFY(!QFile::exists(path("one.csv")));
    }
    void refusedBeforeTheWork() {
        // The model is not there either: what is said first was looked at first.
        for (const auto& [name, status] : {std::pair{path("none/x.csv"), 4}, {dir_.path(), 4}, {QString(), 2}}) {
            const Outcome o = cli({"eval", "--model", "/nonexistent.gguf", "--cache", "fp16", "--per-token", name});
            QVERIFY2(o.status == status, o.err.constData());
            QVERIFY2(o.err.contains("per-token") || o.err.contains("cannot write"), o.err.constData());
            QVERIFY2(!o.err.contains("nonexistent"), o.err.constData());
        }
    }
    void aFileThatFailsAtTheEndCostsNoResult() {
        const Outcome table = cli(eval({"--per-token", "/dev/full"}));
        QVERIFY2(table.status == 4, table.err.constData());
        QVERIFY(table.out.contains("fp16"));
        QVERIFY2(table.err.contains("the disk is full"), table.err.constData());
        const Outcome o = cli(eval({"--per-token", "/dev/full", "--json"}));
        QCOMPARE(o.status, 4);
        const json j = o.document();
        QVERIFY(j["lanes"][0]["nll_mean"].is_number());
        QCOMPARE(j["complete"], json(true));
        QCOMPARE(j["error"]["code"], json("disk"));
    }
    void aFullStandardOutputIsFour() {
        for (const char* command : {"caches", "caches --json", "caches --spec kivi:2", "--help", "eval --help",
                                    "--version", "capacity --explain", "tokenize --json --prompt x --model \"$1\"",
                                    "inspect \"$1\"", "inspect \"$1\" --json", "inspect /nonexistent --json"}) {
            const Outcome o = shell(QStringLiteral("\"$0\" %1 > /dev/full").arg(command), {kTiny});
            QVERIFY2(o.status == 4, command);
            QVERIFY2(o.err.contains("error: cannot write in standard output: the disk is full."), o.err.constData());
            QCOMPARE(o.err.count("the disk is full"), 1);
        }
        const Outcome closed = shell("\"$0\" caches >&-");
        QVERIFY2(closed.status == 4, closed.err.constData());
        const Outcome limited = shell("ulimit -f 1; \"$0\" caches --json > \"$1\"", {path("limited.json")});
        QVERIFY2(limited.status == 4, limited.err.constData());
    }
    void aFileLimitIsAFullDisk() {
        QVERIFY(make(path("kept.kvasir"), "old"));
        const Outcome o = shell(
            "ulimit -f 1; \"$0\" run --model \"$1\" --prompt the --tokens 12 --cache fp16 --quiet --session \"$2\"",
            {path("model.gguf"), path("kept.kvasir")});
        QVERIFY2(o.status == 4, o.err.constData());
        QCOMPARE(content(path("kept.kvasir")), QByteArray("old"));
    }
    void devicesPipesLinksAndModesStayWhatTheyAre() {
        const Outcome to_stdout = cli(eval({"--per-token", "/dev/stdout"}));
        QVERIFY2(to_stdout.status == 0, to_stdout.err.constData());
        QVERIFY2(to_stdout.out.startsWith("lane,position,"), to_stdout.out.constData());
        QVERIFY(to_stdout.out.contains("bits/value"));
        QCOMPARE(cli(eval({"--json", "--per-token", "/dev/stdout"})).status, 2);
        QCOMPARE(cli(eval({"--per-token", "/dev/null"})).status, 0);

        QCOMPARE(::mkfifo(qPrintable(path("pipe")), 0600), 0);
        const Outcome piped = shell("cat \"$1\" & shift; \"$0\" \"$@\" > /dev/null; s=$?; wait; exit $s",
                                    QStringList{path("pipe")} + eval({"--per-token", path("pipe")}));
        QVERIFY2(piped.status == 0, piped.err.constData());
        QVERIFY(piped.out.startsWith("lane,position,"));

        QVERIFY(make(path("private.csv"), "old"));
        QCOMPARE(::chmod(qPrintable(path("private.csv")), 0600), 0);
        QVERIFY(QFile::link("private.csv", path("link.csv")));
        QCOMPARE(cli(eval({"--per-token", path("link.csv")})).status, 0);
        struct stat info {};
        QCOMPARE(::lstat(qPrintable(path("link.csv")), &info), 0);
        QVERIFY(S_ISLNK(info.st_mode));
        QCOMPARE(::stat(qPrintable(path("private.csv")), &info), 0);
        QCOMPARE(info.st_mode & 07777, mode_t(0600));
        QVERIFY(content(path("private.csv")).startsWith("lane,position,"));
    }
    void aTextMayComeThroughAPipe() {
        const QStringList arguments = eval({"--json"});
        const Outcome file = cli(arguments);
        QStringList piped = arguments;
        piped[piped.indexOf("--text") + 1] = "/dev/stdin";
        const Outcome pipe =
            shell("text=$1; shift; cat \"$text\" | \"$0\" \"$@\"", QStringList{path("text.txt")} + piped);
        QVERIFY2(pipe.status == 0, pipe.err.constData());
        QCOMPARE(pipe.document()["text"]["sha256"], file.document()["text"]["sha256"]);
        QCOMPARE(cli(eval({"--text", dir_.path()})).status, 2);  // named twice
        QCOMPARE(cli({"tokenize", "--model", kTiny, "--text", dir_.path()}).status, 3);
    }
};

QTEST_APPLESS_MAIN(TestOutputs)
#include "tst_outputs.moc"
