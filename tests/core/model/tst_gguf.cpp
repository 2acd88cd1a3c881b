// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <random>

#include "core/model/gguf.h"
#include "core/model/gguf_finite.h"
#include "core/model/gguf_parse.h"
#include "support/gguf_writer.h"

using namespace kvasir;

namespace {

const std::string kModels = KVASIR_SOURCE_DIR "/tests/golden/models/gguf/";

std::string read_file(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

/// Parses a copy of exactly this size, so that a sanitizer sees every byte read too many.
std::string parse(const std::string& bytes, size_t size) {
    const std::unique_ptr<uint8_t[]> copy(new uint8_t[size]);
    std::copy_n(bytes.data(), size, copy.get());
    GgufContents contents;
    return parse_gguf({copy.get(), size}, contents);
}

}  // namespace

class TestGguf : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    std::shared_ptr<const GgufFile> open(const test::GgufWriter& writer) {
        const QString path = dir_.filePath("t.gguf");
        if (!writer.write(path)) return nullptr;
        auto file = GgufFile::open(path.toStdString());
        if (!file) qWarning("%s", file.error().message().c_str());
        return file ? *file : nullptr;
    }

 private slots:
    void golden_files_have_their_tensors() {
        const auto file = GgufFile::open(kModels + "llama-gqa-Q4_1.gguf");
        QVERIFY(file.ok());
        const GgufFile& f = **file;
        QCOMPARE(f.version(), 3u);
        QVERIFY(f.warnings().empty());
        const GgufTensor* q = f.tensor("blk.0.attn_q.weight");
        QVERIFY(q);
        QCOMPARE(q->dims, (std::vector<uint64_t>{64, 64}));
        QCOMPARE(ggml_type_name(q->type), std::string("Q4_1"));
        QCOMPARE(q->n_bytes, uint64_t(64 * 64 / 32 * 20));
        QVERIFY(all_finite(f, *q).value());
        QVERIFY(!f.tensor("blk.0.attn_q"));
        QCOMPARE(ggml_type_name(77), std::string("type 77"));
    }

    void values_are_refused_as_another_type() {
        auto writer = test::GgufWriter::tiny_llama();
        writer.set("x.flag", true);
        const auto f = open(writer);
        QVERIFY(f);
        QCOMPARE(*f->integer("llama.block_count", 0, 10), int64_t(1));
        QVERIFY(!f->integer("llama.block_count", 2, 10));
        QVERIFY(!f->integer("general.architecture", 0, 10));
        QVERIFY(!f->integer("llama.attention.layer_norm_rms_epsilon", 0, 10));
        QCOMPARE(*f->string("general.architecture"), std::string_view("llama"));
        QVERIFY(!f->string("llama.block_count"));
        QVERIFY(!f->real("llama.block_count"));
        QCOMPARE(f->boolean("x.flag"), std::optional<bool>(true));
        QCOMPARE(f->boolean("llama.block_count"), std::optional<bool>());
        QCOMPARE(f->string_count("tokenizer.ggml.tokens"), uint64_t(12));
        QCOMPARE(f->string_count("tokenizer.ggml.token_type"), uint64_t(0));
        QCOMPARE(f->strings("tokenizer.ggml.tokens")->at(9), std::string_view("hello"));
        QVERIFY(!f->strings("tokenizer.ggml.token_type"));
        QCOMPARE(f->integers("tokenizer.ggml.token_type")->at(1), 4);
        QVERIFY(!f->integers("tokenizer.ggml.tokens"));
        QCOMPARE(f->reals("tokenizer.ggml.token_type")->at(1), 4.0f);
        QVERIFY(!f->reals("general.architecture"));
        const Result<int64_t> missing = f->integer("no.such", 0, 1);
        QVERIFY(!missing);
        QVERIFY(missing.error().message().find("required key no.such is missing") != std::string::npos);
    }

    void metadata_is_described_as_plain_text() {
        auto writer = test::GgufWriter::tiny_llama();
        writer.set("general.name", "a\nb\x1b[31m");
        const auto f = open(writer);
        QVERIFY(f);
        std::string name, tokens, eps;
        for (const auto& [key, value] : f->describe_metadata()) {
            if (key == "general.name") name = value;
            if (key == "tokenizer.ggml.tokens") tokens = value;
            if (key == "llama.attention.layer_norm_rms_epsilon") eps = value;
        }
        QCOMPARE(name, std::string("a\xEF\xBF\xBD"
                                   "b\xEF\xBF\xBD[31m"));
        QCOMPARE(tokens, std::string("string[12]"));
        QCOMPARE(eps, std::string("1e-05"));
    }

    void what_is_not_a_regular_file_is_refused() {
        const QString fifo = dir_.filePath("fifo.gguf");
        QCOMPARE(mkfifo(fifo.toLocal8Bit().constData(), 0600), 0);
        for (const QString& path : {fifo, dir_.path(), dir_.filePath("absent.gguf"), QString("/dev/zero")}) {
            const auto file = GgufFile::open(path.toStdString());
            QVERIFY2(!file, qPrintable(path));
            QVERIFY(file.error().message().find(path.toStdString()) != std::string::npos);
        }
    }

    void a_changed_file_is_noticed() {
        const auto writer = test::GgufWriter::tiny_llama();
        const auto f = open(writer);
        QVERIFY(f);
        QVERIFY(f->unchanged().ok());
        QFile file(QString::fromStdString(f->path()));
        QVERIFY(file.open(QIODevice::Append));
        file.write("x");
        file.close();
        QVERIFY(!f->unchanged().ok());
        QVERIFY(file.remove());
        QVERIFY(!f->unchanged().ok());
    }

    void tensors_in_another_order_are_a_warning() {
        // Names of two F32 tensors of one size exchanged in the table: their offsets then no longer ascend.
        std::string bytes = test::GgufWriter::tiny_llama().bytes();
        const size_t k = bytes.find("blk.0.attn_k.weight"), v = bytes.find("blk.0.attn_v.weight");
        const size_t to_offset = std::string("blk.0.attn_k.weight").size() + 4 + 2 * 8 + 4;
        for (size_t i = 0; i < 8; ++i)
            std::swap(bytes[k + to_offset + i], bytes[v + to_offset + i]);
        GgufContents contents;
        QCOMPARE(parse_gguf({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, contents), std::string());
        QCOMPARE(contents.warnings.size(), size_t(1));
    }

    void every_prefix_of_the_header_is_refused() {
        const std::string bytes = test::GgufWriter::tiny_llama().bytes();
        for (size_t size = 0; size < bytes.size(); ++size) {
            // The last tensor has no padding behind it, so only the whole file is complete.
            if (parse(bytes, size).empty()) QFAIL(qPrintable(QString("a prefix of %1 bytes was accepted").arg(size)));
        }
        QCOMPARE(parse(bytes, bytes.size()), std::string());
    }

    void flipped_header_bits_never_crash() {
        const std::string bytes = read_file(kModels + "llama-gqa-Q8_0.gguf");
        QVERIFY(!bytes.empty());
        const size_t header = bytes.find("blk.1.ffn_up.weight");
        QVERIFY(header != std::string::npos);
        std::mt19937 random(1);
        int refused = 0;
        for (int round = 0; round < 1000; ++round) {
            std::string damaged = bytes;
            damaged[random() % header] ^= char(1u << (random() % 8));
            refused += !parse(damaged, damaged.size()).empty();
        }
        QVERIFY(refused > 0);
    }

    void non_finite_values_are_found_in_every_type() {
        const struct {
            uint32_t type;
            size_t bytes, at;
            std::vector<uint8_t> infinity;
        } cases[] = {{ggml_type::f32, 128, 126, {0x80, 0x7F}}, {ggml_type::f16, 64, 62, {0x00, 0x7C}},
                     {ggml_type::bf16, 64, 62, {0x80, 0x7F}},  {ggml_type::q8_0, 68, 34, {0x00, 0x7C}},
                     {ggml_type::q4_0, 36, 18, {0x00, 0xFC}},  {ggml_type::q4_1, 40, 20, {0x01, 0x7C}},
                     {ggml_type::q4_1, 40, 22, {0x00, 0x7E}}};
        for (const auto& c : cases) {
            std::vector<uint8_t> data(c.bytes, 0);
            QVERIFY(all_finite(c.type, data.data(), c.bytes));
            std::copy(c.infinity.begin(), c.infinity.end(), data.begin() + long(c.at));
            QVERIFY2(!all_finite(c.type, data.data(), c.bytes), ggml_type_name(c.type).c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestGguf)
#include "tst_gguf.moc"
