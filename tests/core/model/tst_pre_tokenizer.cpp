// SPDX-License-Identifier: GPL-3.0-or-later
// The expressions as published, run by Qt's engine on UTF-16, are the oracle for the rewritten ones on UTF-8.
#include <QRegularExpression>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "core/model/pre_tokenizer.h"

using namespace kvasir;

namespace {

nlohmann::json read_json(const std::string& name) {
    std::ifstream in(KVASIR_SOURCE_DIR "/tests/" + name);
    return nlohmann::json::parse(in);
}

QStringList oracle(const std::vector<std::string>& expressions, const QString& text) {
    QStringList pieces;
    if (!text.isEmpty()) pieces << text;
    for (const std::string& source : expressions) {
        const QRegularExpression expression(QString::fromStdString(source),
                                            QRegularExpression::UseUnicodePropertiesOption);
        QStringList finer;
        for (const QString& piece : pieces) {
            qsizetype done = 0;
            for (auto it = expression.globalMatch(piece); it.hasNext();) {
                const QRegularExpressionMatch match = it.next();
                if (match.capturedStart() > done) finer << piece.mid(done, match.capturedStart() - done);
                finer << match.captured();
                done = match.capturedEnd();
            }
            if (done < piece.size()) finer << piece.mid(done);
        }
        pieces = finer;
    }
    return pieces;
}

QStringList split(const PreTokenizer& pre, const QString& text) {
    const std::string bytes = text.toStdString();
    QStringList pieces;
    for (const std::string_view piece : pre.split(bytes))
        pieces << QString::fromUtf8(piece.data(), qsizetype(piece.size()));
    return pieces;
}

QStringList texts() {
    QStringList list = {"", " ", "a  b\n\n c\r\n", "I'LL don't 1234567 x\u00B2 \u00BD",
                        "CamelCase\u0301s \u1F7D\u2126 \u6B6A\u30E9\uAC00"};
    const nlohmann::json golden = read_json("golden/tokenizer/smollm2.json");
    for (const auto& row : golden["rows"])
        list << QString::fromStdString(row["text"].get<std::string>());
    std::ifstream prose(KVASIR_SOURCE_DIR "/tests/golden/eval/lighthouse.txt");
    std::stringstream all;
    all << prose.rdbuf();
    list << QString::fromStdString(all.str());
    // Characters of every class side by side. U+180E is left out: the oracle takes it for white space.
    const std::u32string alphabet =
        U"aZ\u00E9\u01C5\u02B0\u05D0\u4E00\u30AB\uAC00\u0301\u0903"
        U"19\u0661\u00BD\u2160'!$+<_/\u00AB\u20AC \t\n\r\u00A0\u3000\u2028stREvel"
        U"\U0001F600\U00020000";
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        std::u32string text;
        for (int k = 0; k < 40; ++k)
            text += alphabet[random() % alphabet.size()];
        list << QString::fromStdU32String(text);
    }
    return list;
}

}  // namespace

class TestPreTokenizer : public QObject {
    Q_OBJECT
 private slots:
    void splits_as_the_published_expressions() {
        const QStringList all = texts();
        const nlohmann::json published = read_json("conformance/pre_tokenizers.json");
        for (const auto& [name, expressions] : published["families"].items()) {
            const auto pre = PreTokenizer::find(name);
            QVERIFY2(pre, name.c_str());
            QCOMPARE(std::string(pre->family()), name);
            for (const QString& text : all) {
                const QStringList pieces = split(*pre, text);
                QCOMPARE(pieces.join(""), text);
                const QStringList expected = oracle(expressions, text);
                if (pieces != expected) qWarning() << name.c_str() << text;
                QCOMPARE(pieces, expected);
            }
        }
    }

    void known_splits() {
        const auto smollm = PreTokenizer::find("smollm");
        QCOMPARE(split(*smollm, "I'll buy 24  lamps!"),
                 (QStringList{"I", "'ll", " buy", " ", "2", "4", " ", " lamps", "!"}));
        const auto llama = PreTokenizer::find("llama3");
        QCOMPARE(split(*llama, "I'LL buy 12345\n\n x"),
                 (QStringList{"I", "'LL", " buy", " ", "123", "45", "\n\n", " x"}));
    }

    void the_mongolian_vowel_separator_is_no_space() {
        const auto gpt2 = PreTokenizer::find("gpt-2");
        QCOMPARE(split(*gpt2, QString("a \u180E b")), (QStringList{"a", QString(" \u180E"), " b"}));
    }

    void names() {
        QCOMPARE(PreTokenizer::find("starcoder")->family(), std::string_view("smollm"));
        QVERIFY(PreTokenizer::find("llama-bpe")->ignore_merges() && PreTokenizer::find("llama-bpe")->adds_bos());
        QVERIFY(!PreTokenizer::find("dbrx")->ignore_merges() && !PreTokenizer::find("qwen2")->adds_bos());
        for (const char* unknown : {"", " ", "deepseek-llm", "smollm ", "gpt", "gpt-2 phi-2"})
            QVERIFY2(!PreTokenizer::find(unknown), unknown);
    }
};

QTEST_APPLESS_MAIN(TestPreTokenizer)
#include "tst_pre_tokenizer.moc"
