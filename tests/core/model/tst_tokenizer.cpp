// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "core/model/gguf.h"
#include "core/model/tokenizer.h"
#include "support/default_model.h"
#include "support/gguf_writer.h"

using namespace kvasir;

namespace {

const std::string kTests = KVASIR_SOURCE_DIR "/tests/";
using Ids = std::vector<int>;

nlohmann::json read_json(const std::string& path) {
    std::ifstream in(path);
    return nlohmann::json::parse(in);
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& path) {
    const auto file = GgufFile::open(path);
    if (!file) return nullptr;
    const auto tokenizer = Tokenizer::from_gguf(**file);
    return tokenizer ? *tokenizer : nullptr;
}

/// The text as a stream shows it that gets `step` bytes at a time.
std::string streamed(std::string_view bytes, size_t step) {
    Utf8Stream stream;
    std::string out;
    for (size_t at = 0; at < bytes.size(); at += step)
        out += stream.push(bytes.substr(at, step));
    return out + stream.finish();
}

}  // namespace

class TestTokenizer : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    std::string path() const { return dir_.filePath("t.gguf").toStdString(); }
    std::string refusal(const test::GgufWriter& writer) {
        if (!writer.write(dir_.filePath("t.gguf"))) return "not written";
        const auto file = GgufFile::open(path());
        if (!file) return file.error().message();
        const auto tokenizer = Tokenizer::from_gguf(**file);
        return tokenizer ? "" : tokenizer.error().message();
    }

 private slots:
    void smollm2_golden() {
        KVASIR_NEEDS_MODEL(model);
        const auto tokenizer = tokenizer_of(model);
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->pre_tokenizer(), std::string_view("smollm"));
        QCOMPARE(tokenizer->size(), 49152);
        QVERIFY(!tokenizer->add_bos());
        QCOMPARE(tokenizer->end_of_generation(), (Ids{0, 2}));
        const nlohmann::json golden = read_json(kTests + "golden/tokenizer/smollm2.json");
        QCOMPARE(golden["rows"].size(), size_t(97));
        for (const auto& row : golden["rows"]) {
            const std::string text = row["text"], decoded = row["decoded"];
            const bool parse = row["parse_special"];
            const Ids ids = tokenizer->encode(text, parse ? SpecialTokens::parse : SpecialTokens::as_text);
            QCOMPARE(ids, row["ids"].get<Ids>());
            QCOMPARE(tokenizer->decode(ids), decoded);
            Utf8Stream stream;
            std::string shown;
            for (const int id : ids)
                shown += stream.push(tokenizer->piece(id));
            QCOMPARE(shown + stream.finish(), decoded);
        }
    }

    void prompts_golden() {
        KVASIR_NEEDS_MODEL(model);
        const auto tokenizer = tokenizer_of(model);
        QVERIFY(tokenizer);
        const nlohmann::json prompts = read_json(kTests + "golden/logits/prompts.json");
        QVERIFY(!prompts.empty());
        for (const auto& row : prompts) {
            QCOMPARE(tokenizer->encode(row["text"].get<std::string>(), SpecialTokens::parse), row["ids"].get<Ids>());
            QCOMPARE(tokenizer->decode(row["greedy_ids"].get<Ids>()), row["greedy_text"].get<std::string>());
        }
    }

    void tiny_byte_level_golden() {
        const auto tokenizer = tokenizer_of(kTests + "golden/models/gguf/llama-gqa-F16.gguf");
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->pre_tokenizer(), std::string_view("qwen2"));
        QVERIFY(tokenizer->warnings().empty());
        const nlohmann::json golden = read_json(kTests + "conformance/tiny_byte_level.json");
        QCOMPARE(golden["cases"].size(), size_t(14));
        for (const auto& row : golden["cases"]) {
            const Ids ids = tokenizer->encode(row["text"].get<std::string>(), SpecialTokens::parse);
            QCOMPARE(ids, row["ids"].get<Ids>());
            QCOMPARE(tokenizer->decode(ids), row["decoded"].get<std::string>());
        }
    }

    void long_texts_round_trip() {
        const auto tokenizer = tokenizer_of(kTests + "golden/models/gguf/llama-gqa-F16.gguf");
        QVERIFY(tokenizer);
        // One piece of 300,000 characters of each kind: quadratic merging or stack use would show here.
        for (const std::string unit : {"a", "7", " ", "\n", "!", "\xE6\xAD\xAA", "ab", " x"}) {
            std::string text;
            while (text.size() < 300000)
                text += unit;
            QVERIFY(tokenizer->decode(tokenizer->encode(text, SpecialTokens::as_text)) == text);
        }
    }

    void special_tokens_are_cut() {
        test::GgufWriter writer = test::GgufWriter::tiny_llama();
        QCOMPARE(refusal(writer), std::string());
        const auto t = tokenizer_of(path());
        QVERIFY(t);
        QCOMPARE(t->encode("hello<|end|>hell", SpecialTokens::parse), (Ids{9, 0, 8}));
        // As plain text only the user-defined token cuts; characters without a token are left out.
        QCOMPARE(t->encode("hell<user>o<|end|>", SpecialTokens::as_text), (Ids{8, 1, 5, 3}));
        QVERIFY(t->is_control(0) && !t->is_control(1));
        QVERIFY(t->is_end_of_generation(0) && !t->is_end_of_generation(9));
        QCOMPARE(t->decode({9, 0, 10, 8}), std::string("hello<|end|> hell"));
        QCOMPARE(t->warnings().size(), size_t(1));  // most bytes have no token
    }

    void parts_cannot_form_a_control_token_together() {
        QCOMPARE(refusal(test::GgufWriter::tiny_llama()), std::string());
        const auto t = tokenizer_of(path());
        QVERIFY(t);
        const TextPart split[] = {{"<|e", SpecialTokens::parse}, {"nd|>", SpecialTokens::parse}};
        const Ids ids = t->encode(split);
        QVERIFY(std::find(ids.begin(), ids.end(), 0) == ids.end());
        // Neighbouring text is one text: merges cross the border of the parts.
        const TextPart joined[] = {{"he", SpecialTokens::parse}, {"llo", SpecialTokens::as_text}};
        QCOMPARE(t->encode(joined), (Ids{9}));
    }

    void merges_that_spell_a_control_token_do_not_make_one() {
        test::GgufWriter writer = test::GgufWriter::tiny_llama();
        writer.set("tokenizer.ggml.token_type", std::vector<int32_t>{3, 4, 1, 1, 1, 1, 1, 1, 1, 3, 1, 2});  // "hello"
        QCOMPARE(refusal(writer), std::string());
        const auto t = tokenizer_of(path());
        QVERIFY(t);
        QCOMPARE(t->encode("hello", SpecialTokens::as_text), (Ids{2, 3, 4, 4, 5}));
        QCOMPARE(t->encode("hello", SpecialTokens::parse), (Ids{9}));
    }

    void unreadable_tokenizers_are_refused() {
        const auto expect = [&](const char* key, auto value, const char* fact) {
            test::GgufWriter writer = test::GgufWriter::tiny_llama();
            writer.set(key, value);
            const std::string message = refusal(writer);
            if (message.find(fact) == std::string::npos) qWarning("says: %s", message.c_str());
            return message.find(fact) != std::string::npos;
        };
        QVERIFY(expect("tokenizer.ggml.pre", "deepseek-llm", "tokenizer pre-type \"deepseek-llm\" is not supported"));
        QVERIFY(expect("tokenizer.ggml.model", "bert", "tokenizer model \"bert\" is not supported"));
        QVERIFY(expect("tokenizer.ggml.bos_token_id", 12u, "bos token id 12 is outside the vocabulary of 12"));
        QVERIFY(expect("tokenizer.ggml.fim_mid_token_id", 99u, "fim_mid token id 99 is outside"));
        QVERIFY(expect("tokenizer.ggml.merges", std::vector<std::string>{"he"}, "merge 0"));
        QVERIFY(expect("tokenizer.ggml.merges", 1u, "tokenizer.ggml.merges is missing"));
        test::GgufWriter writer = test::GgufWriter::tiny_llama();
        writer.remove("tokenizer.ggml.pre");
        QCOMPARE(refusal(writer), std::string());
        QVERIFY(tokenizer_of(path())->warnings().size() == 2);
    }

    void invalid_utf8_is_replaced() {
        size_t replaced = 0;
        QCOMPARE(valid_utf8("ok\xFF\xC3", &replaced), std::string("ok\xEF\xBF\xBD\xEF\xBF\xBD"));
        QCOMPARE(replaced, size_t(2));
        // Overlong, surrogate and too large sequences, and a broken one before a letter.
        QCOMPARE(valid_utf8("\xC0\x80"), std::string("\xEF\xBF\xBD\xEF\xBF\xBD"));
        QCOMPARE(valid_utf8("\xED\xA0\x80"), std::string("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
        QCOMPARE(valid_utf8("\xF4\x90\x80\x80").size(), size_t(12));
        QCOMPARE(valid_utf8("\xF0\x9F\x98z"), std::string("\xEF\xBF\xBDz"));
        const std::string valid = "a\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x80";
        QCOMPARE(valid_utf8(valid, &replaced), valid);
        QCOMPARE(replaced, size_t(0));
    }

    void streaming_holds_back_incomplete_characters() {
        Utf8Stream stream;
        QCOMPARE(stream.push("\xE6\xAD"), std::string());
        QCOMPARE(stream.push("\xAA!"), std::string("\xE6\xAD\xAA!"));
        QCOMPARE(stream.push("\xAA"), std::string("\xEF\xBF\xBD"));  // can never start a character
        QCOMPARE(stream.push("\xF0\x9F\x98"), std::string());
        QCOMPARE(stream.finish(), std::string("\xEF\xBF\xBD"));
        QCOMPARE(stream.finish(), std::string());
        // Any bytes in any portions come out as valid_utf8() of the whole.
        std::mt19937 random(7);
        const std::string alphabet = "a\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x80\xED\xA0\xF4\x90\xFF";
        for (int round = 0; round < 2000; ++round) {
            std::string bytes;
            for (int i = 0; i < 12; ++i)
                bytes += alphabet[random() % alphabet.size()];
            for (const size_t step : {1, 2, 3, 5})
                QCOMPARE(streamed(bytes, step), valid_utf8(bytes));
        }
    }
};

QTEST_APPLESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
