// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every command, from one table: heads, exit codes, `complete`, one document, --help, decimal numbers.
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "app/cli_process.h"
#include "support/default_model.h"
#include "support/golden.h"

using namespace kvasir::test;
using nlohmann::json;

namespace {

const QString kTiny = QString::fromStdString(golden_path("models/gguf/llama-gqa-Q4_1.gguf"));

struct Command {
    const char* name;
    QStringList arguments;  ///< a call that works and is quick
    bool model, text;       ///< heads of its document
    const char* number;     ///< an option that takes a whole number, where 10 works; nullptr: none
    const char* result;     ///< key of what it is called for
};

bool is_number(const json& j, const char* key) {
    return j.contains(key) && j[key].is_number();
}

}  // namespace

class TestContract : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

    std::vector<Command> commands() const {
        const QString kv = dir_.filePath("kv.safetensors"), out = dir_.filePath("out");
        const QStringList model{"--model", kTiny}, scored = model + QStringList{"--prefill", "8", "--tokens", "12"},
                                                   cache{"--cache", "quanto:4,group=16"};
        return {
            {"run", model + cache + QStringList{"--prompt", "the keeper", "--tokens", "3"}, true, false, "--tokens",
             "lanes"},
            {"eval", scored + cache, true, true, "--prefill", "lanes"},
            {"bench", model + cache + QStringList{"--tokens", "2", "--prompt", "4"}, true, false, "--tokens",
             "results"},
            {"caches", {"--spec", "kivi:2"}, false, false, "--head-dim", "long_spec"},
            {"tokenize", model + QStringList{"--prompt", "the keeper"}, true, true, nullptr, "ids"},
            {"inspect", {kTiny}, true, false, nullptr, "tensors"},
            {"logits", model + QStringList{"--ids", "5,9"}, true, false, "--top", "top"},
            {"replay",
             {"--in", kv, "--layer", "layer0", "--cache", "fp16", "--prefill", "4"},
             false,
             false,
             "--prefill",
             "steps"},
            {"selftest", {}, true, false, nullptr, "laws"},
            {"quantize", QStringList{"--in", kv, "--tensor", "layer0.k", "--side", "k", "--out", out} + cache, false,
             false, "--tokens", "shapes"},
            {"record", model + QStringList{"--tokens", "8", "--layers", "0", "--out", out}, true, true, "--tokens",
             "tensors"},
            {"distribution", model + cache + QStringList{"--layer", "0", "--side", "v", "--tokens", "20"}, true, true,
             "--bins", "before"},
            {"sweep", scored + QStringList{"--k", "fp16", "--v", "fp16,quanto:4", "--group", "16"}, true, true,
             "--prefill", "rows"},
            {"attribute", scored + cache + QStringList{"--layers", "0"}, true, true, "--prefill", "rows"},
            {"capacity", {"--shape", "llama-2-7b", "--memory", "80GiB"}, false, false, nullptr, "rows"},
            {"tasks",
             model + QStringList{"--task", "triviaqa", "--cache", "fp16", "--max-length", "16", "--limit", "1"}, true,
             false, "--max-length", "rows"},
        };
    }
    void rows() const {
        QTest::addColumn<int>("at");
        const std::vector<Command> all = commands();
        for (size_t i = 0; i < all.size(); ++i)
            QTest::newRow(all[i].name) << int(i);
    }
    static QStringList call(const Command& c, const QStringList& more = {}) {
        return QStringList{c.name} + c.arguments + more;
    }

 private slots:
    void initTestCase() {
        QCOMPARE(cli({"record", "--model", kTiny, "--tokens", "24", "--layers", "0", "--out",
                      dir_.filePath("kv.safetensors"), "--quiet"})
                     .status,
                 0);
    }
    /// The table has every command that --help names.
    void theTableIsComplete() {
        QStringList named, mine;
        const QString help = cli({"--help"}).out;
        QRegularExpressionMatchIterator it =
            QRegularExpression("^  ([a-z]+)  +\\S", QRegularExpression::MultilineOption)
                .globalMatch(help.mid(help.indexOf("Subcommands:")));
        while (it.hasNext())
            named << it.next().captured(1);
        for (const Command& c : commands())
            mine << c.name;
        named.sort(), mine.sort();
        QCOMPARE(mine, named);
    }
    void help_data() { rows(); }
    void help() {
        QFETCH(int, at);
        const Outcome o = cli({commands()[size_t(at)].name, "--help"});
        QCOMPARE(o.status, 0);
        QVERIFY(o.out.contains("--json") && o.err.isEmpty());
    }
    void oneDocumentWithItsHeads_data() { rows(); }
    void oneDocumentWithItsHeads() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        if (qstrcmp(c.name, "selftest") == 0) QSKIP("takes the default model: tst_cli, selftestHolds");
        const Outcome o = cli(call(c, {"--json"}));
        QVERIFY2(o.status == 0, o.err.constData());
        const json j = o.document();  // all of stdout, nothing beside it
        QVERIFY2(j.is_object(), o.out.left(300).constData());
        for (const char* key : {"version", "build", "kernels"})
            QVERIFY2(j["kvasir"][key].is_string(), key);
        QCOMPARE(j["complete"], json(true));
        QVERIFY(!j.contains("error"));
        QVERIFY2(j.contains(c.result), c.result);
        QCOMPARE(j.contains("model"), c.model);
        if (c.model) {
            QCOMPARE(j["model"]["file"], json(kTiny.toStdString()));
            QCOMPARE(j["model"]["sha256"].get<std::string>().size(), size_t(64));
            for (const char* key : {"arch", "weights"})
                QVERIFY2(j["model"][key].is_string(), key);
            for (const char* key : {"n_layers", "n_heads", "n_kv_heads", "head_dim"})
                QVERIFY2(is_number(j["model"], key), key);
        }
        QCOMPARE(j.contains("text"), c.text);
        if (c.text) {
            QVERIFY(j["text"].contains("file"));
            QCOMPARE(j["text"]["sha256"].get<std::string>().size(), size_t(64));
            QVERIFY(is_number(j["text"], "n_tokens"));
        }
    }
    void forPeople_data() { rows(); }
    void forPeople() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        if (qstrcmp(c.name, "selftest") == 0) QSKIP("takes the default model");
        const Outcome o = shell("TERM=xterm exec \"$0\" \"$@\"", call(c));
        QVERIFY2(o.status == 0, o.err.constData());
        QVERIFY2(!o.out.contains('\x1b') && !o.err.contains('\x1b'), "escapes without a terminal");
        const Outcome quiet = cli(call(c, {"--quiet"}));
        QCOMPARE(quiet.status, 0);
        QVERIFY2(quiet.err.isEmpty(), quiet.err.constData());
    }
    void wrongUsage_data() { rows(); }
    void wrongUsage() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        const Outcome o = cli(call(c, {"--nonsense", "--json"}));
        QCOMPARE(o.status, 2);
        const json j = o.document();
        QCOMPARE(j["error"]["code"], json("usage"));
        QCOMPARE(j["complete"], json(false));
        QVERIFY(j["kvasir"].is_object());
        QVERIFY(o.err.startsWith("error: ") && o.err.count('\n') == 1);
    }
    void aModelThatIsNotThereIsThree_data() { rows(); }
    void aModelThatIsNotThereIsThree() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        QStringList arguments = call(c, {"--json"});
        if (!c.model) QSKIP("takes no model");
        if (arguments.contains(kTiny))
            arguments.replaceInStrings(kTiny, "/nonexistent.gguf");
        else
            arguments << "--model"
                      << "/nonexistent.gguf";
        const Outcome o = cli(arguments);
        QVERIFY2(o.status == 3, o.err.constData());
        QCOMPARE(o.document()["error"]["code"], json("input"));
        QVERIFY2(o.err.contains("/nonexistent.gguf"), o.err.constData());
    }
    void aWrongSpecIsThree_data() { rows(); }
    void aWrongSpecIsThree() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        QStringList arguments = call(c, {"--json"});
        const qsizetype spec = std::max(arguments.indexOf("--cache"), arguments.indexOf("--spec"));
        if (spec < 0) QSKIP("takes no cache");
        arguments[spec + 1] = "quantoo:4";
        const Outcome o = cli(arguments);
        QVERIFY2(o.status == 3, o.err.constData());
        QVERIFY2(o.err.contains("quanto:4"), o.err.constData());
    }
    void numbersAreDecimal_data() { rows(); }
    void numbersAreDecimal() {
        QFETCH(int, at);
        const Command c = commands()[size_t(at)];
        if (!c.number) QSKIP("takes no whole number");
        const auto with = [&](const QString& value) {
            QStringList arguments = call(c, {"--json", "--quiet"});
            const qsizetype given = arguments.indexOf(c.number);
            if (given >= 0)
                arguments[given + 1] = value;
            else
                arguments << c.number << value;
            return cli(arguments);
        };
        for (const char* wrong : {"0x10", "1e3", "10.5", "ten", "", "99999999999999999999", "-3"}) {
            const Outcome o = with(wrong);
            QVERIFY2(o.status == 2, wrong);
            QVERIFY2(o.err.contains(c.number), o.err.constData());
        }
        QVERIFY2(with("010").status == 0, c.number);
    }
    void tenIsNotEight() {
        const Outcome o = cli({"run", "--model", kTiny, "--prompt", "the", "--tokens", "010", "--min-tokens", "0010",
                               "--cache", "fp16", "--json"});
        QCOMPARE(o.document()["lanes"][0]["n_scored"], json(10));
        QCOMPARE(cli({"logits", "--model", kTiny, "--ids", "4294967297"}).status, 3);
        for (const char* seed : {"-1", "18446744073709551616"})
            QCOMPARE(cli({"run", "--model", kTiny, "--prompt", "the", "--cache", "fp16", "--seed", seed}).status, 2);
    }
    void numbersAreFinite() {
        const QStringList run{"run", "--model", kTiny, "--prompt", "the", "--tokens", "2", "--cache", "fp16"};
        for (const char* option : {"--temperature", "--top-p"})
            for (const char* value : {"nan", "-nan", "inf", "NAN(1)", "0x1p1", "1e999", "-1"})
                QVERIFY2(cli(run + QStringList{option, value}).status == 2, value);
        QCOMPARE(cli({"capacity", "--shape", "llama-2-7b", "--memory", "80GiB", "--weights-bits", "nan"}).status, 2);
        QCOMPARE(cli(run + QStringList{"--temperature", "0.5", "--top-p", ".9"}).status, 0);
    }
    /// What a file does not have is refused alike in every command.
    void absentPartsAreThree() {
        const QStringList model{"--model", kTiny};
        for (const QStringList& arguments :
             {QStringList{"record", "--tokens", "8", "--layers", "99", "--out", dir_.filePath("x")} + model,
              QStringList{"attribute", "--cache", "quanto:4,group=16", "--layers", "99"} + model,
              QStringList{"distribution", "--cache", "quanto:4,group=16", "--side", "k", "--layer", "99"} + model,
              QStringList{"distribution", "--cache", "quanto:4,group=16", "--side", "k", "--layer", "0", "--head",
                          "99"} +
                  model,
              QStringList{"replay", "--in", dir_.filePath("kv.safetensors"), "--layer", "layer99", "--cache", "fp16",
                          "--prefill", "4"},
              QStringList{"logits", "--ids", "99999"} + model}) {
            const Outcome o = cli(arguments + QStringList{"--json"});
            QVERIFY2(o.status == 3, o.err.constData());
            QCOMPARE(o.document()["error"]["code"], json("input"));
        }
    }
    void aLaneThatDoesNotRunIsThree_data() {
        QTest::addColumn<QStringList>("arguments");
        const QStringList scored{"--model", kTiny, "--prefill", "8", "--tokens", "12"};
        // No head of 16 channels can be cut into groups of 32.
        QTest::newRow("run") << QStringList{"run",      "--model", kTiny,     "--prompt", "the",
                                            "--tokens", "3",       "--cache", "kivi:4"};
        QTest::newRow("eval") << QStringList{"eval", "--cache", "kivi:4"} + scored;
        QTest::newRow("eval --repeat") << QStringList{"eval", "--cache", "kivi:4", "--repeat", "2"} + scored;
        QTest::newRow("eval --trap") << QStringList{"eval", "--cache", "kivi:4", "--trap"} + scored;
        QTest::newRow("sweep") << QStringList{"sweep", "--k", "fp16", "--v", "kivi:4,quanto:4"} + scored;
        QTest::newRow("bench") << QStringList{"bench",  "--model",  kTiny, "--cache",  "fp16", "--cache",
                                              "kivi:4", "--tokens", "2",   "--prompt", "4",    "--measuring"};
        QTest::newRow("tasks") << QStringList{"tasks",  "--model",      kTiny, "--task",  "triviaqa", "--cache",
                                              "kivi:4", "--max-length", "16",  "--limit", "1"};
        QTest::newRow("capacity") << QStringList{"capacity", "--model", kTiny, "--memory", "1GiB", "--cache", "kivi:4"};
    }
    void aLaneThatDoesNotRunIsThree() {
        QFETCH(QStringList, arguments);
        const Outcome o = cli(arguments + QStringList{"--json"});
        QVERIFY2(o.status == 3, o.err.constData());
        const json j = o.document();
        QCOMPARE(j["complete"], json(false));
        QVERIFY2(o.out.contains("kivi:4") && !j.contains("error"), o.out.constData());
        QCOMPARE(cli(arguments).status, 3);
    }
    void theRunSaysHowItWasSampled() {
        const QStringList run{"run", "--model", kTiny, "--prompt", "the", "--tokens", "2", "--cache", "fp16", "--json"};
        const json j =
            cli(run + QStringList{"--seed", "7", "--temperature", "0.5", "--top-k", "4", "--top-p", "0.75"}).document();
        QCOMPARE(j["seed"], json(7));
        QCOMPARE(j["sampling"], (json{{"temperature", 0.5}, {"top_k", 4}, {"top_p", 0.75}}));
        QCOMPARE(j["chat"], json(false));
        QVERIFY(!j.contains("notes"));
        // Nothing of it has an effect when the likeliest token is taken: said.
        for (const QStringList& option : {QStringList{"--seed", "7"}, {"--top-k", "4"}, {"--top-p", "0.75"}}) {
            const Outcome o = cli(run + option);
            QCOMPARE(o.document()["notes"].size(), size_t(1));
            QVERIFY2(o.err.contains(qPrintable(option[0])), o.err.constData());
        }
    }
    void anEmptyPromptIsNotAnotherPrompt() {
        const Outcome o = cli({"run", "--model", kTiny, "--prompt", "", "--tokens", "2", "--cache", "fp16", "--json"});
        if (o.status == 0) {
            QCOMPARE(o.document()["prompt"]["text"], json(""));
            QCOMPARE(o.document()["prompt"]["n_tokens"], json(1));  // BOS
        } else {
            QVERIFY2(o.status == 3 && o.err.contains("the prompt is empty"), o.err.constData());
        }
    }
    void tokenizeNamesWhatItRead() {
        const json prompt = cli({"tokenize", "--model", kTiny, "--prompt", "the", "--json"}).document();
        QCOMPARE(prompt["text"]["file"], json(nullptr));
        QCOMPARE(prompt["text"]["source"], json("--prompt"));
    }
    /// Every refusal that names an option as the way out: taken, it works.
    void waysOutWork_data() {
        QTest::addColumn<QStringList>("refused");
        QTest::addColumn<QString>("hint");
        QTest::addColumn<QStringList>("followed");
        const QStringList run{"run", "--model", kTiny, "--prompt", "the", "--tokens", "2", "--cache", "fp16"};
        QTest::newRow("--chat") << run + QStringList{"--chat"} << "Leave out --chat" << run;
        const QStringList bench{"bench", "--model", kTiny, "--cache", "fp16", "--prompt", "0"};
        QTest::newRow("--depth") << bench + QStringList{"--tokens", "2", "--depth", "100000"}
                                 << "Use --depth (\\d+) or less"
                                 << bench + QStringList{"--tokens", "2", "--depth", "%1"};
        QTest::newRow("--tokens") << bench + QStringList{"--tokens", "100000"} << "Use --tokens (\\d+) or less"
                                  << bench + QStringList{"--tokens", "%1"};
        const QStringList eval{"eval", "--model", kTiny, "--cache", "fp16", "--prefill", "8"};
        QTest::newRow("--prefill") << eval + QStringList{"--tokens", "8"} << "Ask for more tokens than --prefill"
                                   << eval + QStringList{"--tokens", "9"};
        const QString csv = dir_.filePath("way.csv");
        QTest::newRow("same file") << run + QStringList{"--csv", csv, "--session", csv} << "Name another file"
                                   << run + QStringList{"--csv", csv, "--session", dir_.filePath("way.kvasir")};
        const QStringList attribute{"attribute", "--model", kTiny, "--tokens", "20", "--prefill", "8"};
        QTest::newRow("attribute --layers")
            << attribute + QStringList{"--cache", "quanto:4,group=16", "--layers", "99"} << "Choose 0 to (\\d+)"
            << attribute + QStringList{"--cache", "quanto:4,group=16", "--layers", "%1"};
        QTest::newRow("attribute exact") << attribute + QStringList{"--cache", "fp16"} << "Choose a quantized preset"
                                         << attribute + QStringList{"--cache", "quanto:4,group=16"};
        QTest::newRow("attribute rules") << attribute + QStringList{"--cache", "quanto:4,group=16,layers=0:fp16"}
                                         << "Leave them out" << attribute + QStringList{"--cache", "quanto:4,group=16"};
        const QStringList distribution{"distribution", "--model", kTiny, "--side", "k", "--tokens", "20"};
        QTest::newRow("distribution --layer")
            << distribution + QStringList{"--cache", "quanto:4,group=16", "--layer", "99"} << "Choose 0 to (\\d+)"
            << distribution + QStringList{"--cache", "quanto:4,group=16", "--layer", "%1"};
        QTest::newRow("capacity --shape")
            << QStringList{"capacity", "--memory", "1GiB", "--shape", "llama-99"} << "Nearest: ([^ ]+)\\."
            << QStringList{"capacity", "--memory", "1GiB", "--shape", "%1"};
        QTest::newRow("capacity --memory")
            << QStringList{"capacity", "--shape", "llama-3-8b", "--memory", "1Gxx"} << "for example ([^ ]+),"
            << QStringList{"capacity", "--shape", "llama-3-8b", "--memory", "%1"};
        QTest::newRow("logits --ids") << QStringList{"logits", "--model", kTiny, "--ids", "abc"}
                                      << "Write them as ([0-9,]+) or"
                                      << QStringList{"logits", "--model", kTiny, "--ids", "%1"};
        QTest::newRow("no prompt") << QStringList{"run",      "--model", kTiny,     "--prompt", "",
                                                  "--tokens", "2",       "--cache", "fp16"}
                                   << "Type a prompt" << run;
        QTest::newRow("groups across tokens")
            << QStringList{"run",      "--model", kTiny,     "--prompt",           "the",
                           "--tokens", "2",       "--cache", "quanto:4,group=1000"}
            << "(.)" << run;
        QTest::newRow("folder") << run + QStringList{"--csv", dir_.path()} << "Name a file in it"
                                << run + QStringList{"--csv", dir_.filePath("in_it.csv")};
        QTest::newRow("caches") << QStringList{"caches", "--spec", "kivi:2,group=7"} << "Nearest: group=(\\d+)"
                                << QStringList{"caches", "--spec", "kivi:2,group=%1"};
        const QStringList record{"record", "--model", kTiny, "--layers", "0", "--out", dir_.filePath("way")};
        QTest::newRow("record --tokens") << record + QStringList{"--tokens", "9999999"} << "Ask for fewer --tokens"
                                         << record + QStringList{"--tokens", "10"};
    }
    void waysOutWork() {
        QFETCH(QStringList, refused);
        QFETCH(QString, hint);
        QFETCH(QStringList, followed);
        const Outcome no = cli(refused);
        QVERIFY2(no.status >= 2 && no.status <= 4, no.err.constData());
        const QRegularExpressionMatch way = QRegularExpression(hint).match(QString::fromUtf8(no.err));
        QVERIFY2(way.hasMatch(), no.err.constData());
        followed.replaceInStrings("%1", way.captured(1));
        const Outcome yes = cli(followed);
        QVERIFY2(yes.status == 0, yes.err.constData());
    }
    void droppedOptionsAreSaid_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("option");
        QTest::newRow("capacity") << QStringList{"capacity", "--explain", "--memory", "1GiB"} << "--memory";
        QTest::newRow("caches") << QStringList{"caches", "--spec", "kivi:2", "--head-dim", "128"} << "--head-dim";
        QTest::newRow("bench") << QStringList{"bench",    "--model", kTiny,      "--cache", "fp16",
                                              "--tokens", "2",       "--prompt", "99999"}
                               << "--prompt 99999";
        QTest::newRow("logits") << QStringList{"logits", "--model", kTiny, "--ids", "5", "--top", "99999"}
                                << "--top 99999";
        const QStringList tasks{"tasks", "--model", kTiny, "--task", "triviaqa", "--cache", "fp16", "--limit", "1"};
        QTest::newRow("tasks") << tasks + QStringList{"--max-length", "16", "--answers"} << "--answers";
        QTest::newRow("tasks length") << tasks + QStringList{"--max-length", "9999999"} << "--max-length 9999999";
        QTest::newRow("eval")
            << QStringList{"eval",     "--model", kTiny,      "--cache", "fp32",     "--prefill",       "8",
                           "--tokens", "10",      "--repeat", "2",       "--format", "llama-perplexity"}
            << "--repeat";
        QTest::newRow("run") << QStringList{"run", "--model",      kTiny, "--prompt", "the", "--tokens",
                                            "2",   "--min-tokens", "9",   "--cache",  "fp16"}
                             << "--min-tokens 9";
    }
    void droppedOptionsAreSaid() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, option);
        const Outcome o = cli(arguments);
        QVERIFY2(o.status == 0, o.err.constData());
        QVERIFY2(QString::fromUtf8(o.err).contains("note: " + option) || QString::fromUtf8(o.err).contains(option),
                 o.err.constData());
    }
    void tooLittleMemoryIsFour() {
        if (kSanitized) QSKIP("a sanitizer takes memory of its own");
        // The program needs some 100 MB of addresses before it does anything; each limit fails somewhere else.
        for (const int kilobytes : {60000, 100000, 150000, 250000}) {
            const Outcome o = shell(QStringLiteral("ulimit -v %1; exec \"$0\" \"$@\"").arg(kilobytes),
                                    {"bench", "--model", kTiny, "--cache", "fp16", "--tokens", "2", "--prompt", "4",
                                     "--quiet", "--threads", "2", "--lanes", "64"});
            if (o.status == 127) continue;  // the loader itself
            QVERIFY2(o.status == 4 || o.status == 0,
                     (QByteArray::number(kilobytes) + ": " + QByteArray::number(o.status) + " " + o.err).constData());
            if (o.status == 4) QCOMPARE(o.err.count('\n'), 1);
        }
    }
};

QTEST_APPLESS_MAIN(TestContract)
#include "tst_contract.moc"
