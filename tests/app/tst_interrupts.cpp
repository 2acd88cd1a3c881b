// SPDX-License-Identifier: GPL-3.0-or-later
// Signals to the real program: what is finished is printed, marked incomplete, with the signal's exit status.
#include <csignal>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "app/cli_process.h"
#include "support/default_model.h"
#include "support/golden.h"

using namespace kvasir::test;
using nlohmann::json;

namespace {

const QString kTiny = QString::fromStdString(golden_path("models/gguf/llama-gqa-Q8_0.gguf"));

struct Case {
    const char* name;
    QStringList arguments;  ///< runs for minutes when nobody stops it
    const char* started;    ///< on stderr, a regular expression, once something is under way (or finished)
    const char* finished;   ///< key of what must be there by then; nullptr: nothing can be
};

/// The tiny model with room for a long context: what it says of itself is one number in its file.
bool copyWithContext(const QString& to, quint32 context) {
    QFile file(kTiny), out(to);
    if (!file.open(QFile::ReadOnly) || !out.open(QFile::WriteOnly)) return false;
    QByteArray bytes = file.readAll();
    const QByteArray key = "llama.context_length";
    const qsizetype value = bytes.indexOf(key) + key.size() + 4;  // behind the value's type
    for (int i = 0; i < 4; ++i)
        bytes[value + i] = char(context >> (8 * i) & 255);
    return out.write(bytes) == bytes.size();
}

/// Starts the program and waits until stderr has said what `expected` matches; returns what it said.
QByteArray start(QProcess& process, const QString& program, const QStringList& arguments, const QString& expected) {
    process.setReadChannel(QProcess::StandardError);
    process.start(program, arguments);
    QByteArray said;
    const QRegularExpression words(expected);
    while (!words.match(QString::fromUtf8(said)).hasMatch() && process.waitForReadyRead(kPatienceMs))
        said += process.readAllStandardError();
    return said;
}

}  // namespace

class TestInterrupts : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

    QString path(const char* name) const { return dir_.filePath(name); }

    std::vector<Case> cases() const {
        const QStringList model{"--model", path("model.gguf")}, text = model + QStringList{"--text", path("long.txt")};
        const QStringList fp32{"--cache", "fp32", "--prefill", "8"};
        const QString grid = "quanto:4,quanto:2,hqq:4,hqq:2";
        std::vector<Case> all{
            {"run",
             QStringList{"run", "--prompt", "the", "--tokens", "150000", "--min-tokens", "150000", "--cache", "fp16"} +
                 model,
             "token 1 of", "lanes"},
            {"eval", QStringList{"eval"} + fp32 + text, "token 1 of", "lanes"},
            {"eval --repeat", QStringList{"eval", "--tokens", "2000", "--repeat", "100"} + fp32 + text, "draw 2 of",
             "lanes"},
            {"eval --blind",
             QStringList{"eval", "--prefill", "2000", "--tokens", "2004", "--blind"} +
                 repeated("--cache", "fp32", 200) + text,
             "blind forward", "lanes"},
            {"eval --trap", QStringList{"eval", "--tokens", "8000", "--trap"} + fp32 + text, "measured in four ways",
             "lanes"},
            {"bench",
             QStringList{"bench", "--cache", "fp16", "--prompt", "0", "--depth", "0,1,2,3,4,5,6,7,8,9", "--tokens",
                         "4000"} +
                 model,
             "fp16 at 0", "results"},
            {"sweep",
             QStringList{"sweep", "--k", grid, "--v", grid, "--group", "8,16", "--residual", "16,32", "--prefill",
                         "8"} +
                 text,
             "schemes ", nullptr},
            {"attribute", QStringList{"attribute", "--cache", "quanto:4,group=16", "--prefill", "8"} + text, "schemes ",
             nullptr},
            {"tasks",
             QStringList{"tasks", "--task", "triviaqa", "--cache", "fp32", "--data", path("tasks.jsonl"),
                         "--max-length", "64"} +
                 model,
             "triviaqa", nullptr},
            {"logits", QStringList{"logits", "--decode", "--ids-file", path("ids.json"), "--cache", "fp32"} + model,
             "100 %", nullptr},
            {"record", QStringList{"record", "--tokens", "100000", "--layers", "0", "--out", path("record")} + text,
             "recording", nullptr},
            {"distribution",
             QStringList{"distribution", "--layer", "0", "--side", "k", "--cache", "quanto:4,group=16", "--tokens",
                         "100000"} +
                 text,
             "reading the prompt", nullptr},
            {"replay",
             {"replay", "--in", path("kv.safetensors"), "--layer", "layer0", "--cache", "fp32", "--prefill", "4"},
             "step 1",
             "steps"},
        };
        if (const std::string real = default_model(); !real.empty())
            all.push_back({"selftest",
                           {"selftest", "--model", QString::fromStdString(real)},
                           "checking the laws: [1-9]",
                           "laws"});
        return all;
    }
    static QStringList repeated(const QString& option, const QString& value, int n) {
        QStringList list;
        for (int i = 0; i < n; ++i)
            list << option << value;
        return list;
    }

 private slots:
    void initTestCase() {
        QVERIFY(copyWithContext(path("model.gguf"), 200000));
        QFile text(path("long.txt")), ids(dir_.filePath("ids.json")), tasks(dir_.filePath("tasks.jsonl"));
        QVERIFY(text.open(QFile::WriteOnly) && ids.open(QFile::WriteOnly) && tasks.open(QFile::WriteOnly));
        text.write(QByteArray("the keeper wrote the names of the ships in a book. ").repeated(8000));
        ids.write("[5" + QByteArray(",9").repeated(30000) + "]");
        tasks.write(
            QByteArray("{\"input\": \"names\", \"context\": \"the keeper\", \"answers\": [\"a\"], \"length\": 2, "
                       "\"dataset\": \"triviaqa\", \"language\": \"en\", \"all_classes\": null, \"_id\": \"1\"}\n")
                .repeated(5000));
        const Outcome o = cli({"record", "--model", path("model.gguf"), "--text", path("long.txt"), "--tokens", "4000",
                               "--layers", "0", "--out", path("kv.safetensors"), "--quiet"});
        QVERIFY2(o.status == 0, o.err.constData());
    }
    void whatIsFinishedIsPrinted_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("signal");
        const std::vector<Case> all = cases();
        const int kinds[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < all.size(); ++i)
            QTest::addRow("%s", all[i].name) << int(i) << kinds[i % 3];
    }
    void whatIsFinishedIsPrinted() {
        QFETCH(int, at);
        QFETCH(int, signal);
        const Case c = cases()[size_t(at)];
        QProcess process;
        const QByteArray said = start(process, KVASIR_CLI, c.arguments + QStringList{"--json"}, c.started);
        QVERIFY2(process.state() == QProcess::Running, said.constData());  // it was not over before
        ::kill(pid_t(process.processId()), signal);
        const Outcome o = outcome_of(process);
        QVERIFY2(o.status == 128 + signal, (o.out.right(2000) + o.err).constData());
        const json j = o.document();
        QVERIFY2(j.is_object(), o.out.constData());
        QCOMPARE(j["complete"], json(false));
        QVERIFY(j["kvasir"].is_object());
        if (c.finished && qstrcmp(c.finished, "lanes") == 0) QVERIFY(j["lanes"][0]["n_scored"].get<int>() > 0);
        if (c.finished) QVERIFY2(j.contains(c.finished) && !j[c.finished].empty(), o.out.constData());
    }
    void peopleAreTold() {
        QProcess process;
        start(process, KVASIR_CLI,
              {"eval", "--cache", "fp32", "--prefill", "8", "--model", path("model.gguf"), "--text", path("long.txt")},
              "token 1 of");
        ::kill(pid_t(process.processId()), SIGINT);
        const Outcome o = outcome_of(process);
        QCOMPARE(o.status, 130);
        QVERIFY2(o.out.contains("Interrupted: not complete."), o.out.constData());
        QVERIFY(o.out.contains("fp32"));
    }
    /// At any moment: from the first instruction on, while loading, while measuring.
    void atAnyMoment() {
        QVERIFY(QFile::exists(path("long.txt")));
        for (int turn = 0; turn < 12; ++turn) {
            QProcess process;
            process.start(KVASIR_CLI,
                          {"eval", "--cache", "fp32", "--prefill", "8", "--model", path("model.gguf"), "--text",
                           path("long.txt"), "--json", "--per-token", dir_.filePath("tokens.csv")});
            QVERIFY(process.waitForStarted());
            QTest::qSleep(turn * turn);
            ::kill(pid_t(process.processId()), SIGTERM);
            process.waitForFinished(kPatienceMs);
            // Before main() takes the signal it ends the process as any other's would.
            if (process.exitStatus() == QProcess::CrashExit) continue;
            QCOMPARE(process.exitCode(), 143);
            const QByteArray out = process.readAllStandardOutput();
            const json j = json::parse(out.begin(), out.end(), nullptr, false);
            QVERIFY2(j.is_object(), out.constData());
            QCOMPARE(j["complete"], json(false));
        }
    }
    void aPipeThatSaysNothingIsLeft() {
        QProcess process;  // its stdin stays open and empty
        process.start(KVASIR_CLI, {"tokenize", "--model", path("model.gguf"), "--text", "/dev/stdin"});
        QVERIFY(process.waitForStarted());
        int tries = 0;
        while (process.state() == QProcess::Running && ++tries < 1000) {  // the first may come before the program is up
            ::kill(pid_t(process.processId()), SIGINT);
            process.waitForFinished(100);
        }
        QVERIFY(process.state() == QProcess::NotRunning);
        QVERIFY(process.exitStatus() == QProcess::CrashExit || process.exitCode() == 130);
    }
    /// Work that does not listen (tokenizing a long text) outlives the first signal, and not the second.
    void theSecondSignalEndsAtOnce() {
        QFile text(path("huge.txt"));
        QVERIFY(text.open(QFile::WriteOnly));
        text.write(QByteArray("the keeper wrote the names of the ships in a book. ").repeated(1000000));
        text.close();
        QProcess process;
        process.start(KVASIR_CLI, {"tokenize", "--model", path("model.gguf"), "--text", path("huge.txt")});
        QVERIFY(process.waitForStarted());
        for (int tries = 0; process.state() == QProcess::Running && tries < 1000; ++tries) {
            ::kill(pid_t(process.processId()), SIGTERM);
            process.waitForFinished(50);
        }
        QVERIFY(process.state() == QProcess::NotRunning);
        QVERIFY(process.exitStatus() == QProcess::CrashExit || process.exitCode() == 143);
        QVERIFY(process.readAllStandardOutput().isEmpty());
    }
    void aSignalThatWasIgnoredStaysIgnored() {
        QProcess process;
        start(process, "/bin/sh",
              {"-c", "trap '' HUP; exec \"$0\" \"$@\"", KVASIR_CLI, "eval", "--cache", "fp32", "--prefill", "8",
               "--tokens", "2000", "--model", path("model.gguf"), "--text", path("long.txt")},
              "token 1 of");
        ::kill(pid_t(process.processId()), SIGHUP);
        QCOMPARE(outcome_of(process).status, 0);
    }
};

QTEST_APPLESS_MAIN(TestInterrupts)
#include "tst_interrupts.moc"
