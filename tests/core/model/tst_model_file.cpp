// SPDX-License-Identifier: GPL-3.0-or-later
// A model file that another program writes to while it is read and afterwards, files of the wrong kind, and what a file
// asks for and does not get.
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include "core/base/sha256.h"
#include "core/model/model.h"
#include "core/model/readable_model.h"
#include "support/small_model.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

void write(const std::string& path, const std::string& bytes, std::ios::openmode mode = std::ios::trunc) {
    std::ofstream(path, std::ios::binary | std::ios::out | mode) << bytes;
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool mentions(const std::vector<std::string>& warnings, const char* word) {
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const std::string& w) { return w.find(word) != std::string::npos; });
}

}  // namespace

class TestModelFile : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;
    std::string path_, original_;

    std::string file(const char* name) const { return dir_.filePath(name).toStdString(); }
    std::vector<float> embedding_of(const Model& model, int token) const {
        std::vector<float> row(size_t(model.config().n_embd));
        model.embed(token, row.data());
        return row;
    }

 private slots:
    void init() {
        path_ = file("model.gguf");
        std::filesystem::remove(path_);
        original_ = SmallModel({}).writer().bytes();
        write(path_, original_);
    }

    void changed_while_it_is_loaded_data() {
        QTest::addColumn<QString>("how");
        for (const char* how : {"truncated", "emptied", "overwritten", "longer", "replaced", "removed"})
            QTest::newRow(how) << how;
    }
    void changed_while_it_is_loaded() {
        QFETCH(QString, how);
        const std::string garbage(original_.size(), '\x3c');
        // At every point where the load says how far it is.
        for (int at = 0, seen = 1; seen > at; ++at) {
            std::filesystem::remove(path_);
            write(path_, original_);
            seen = 0;
            const auto model = Model::load(path_, [&](double share, const char*) {
                if (seen++ != at || share >= 1) return;
                if (how == "truncated") std::filesystem::resize_file(path_, original_.size() / 2);
                if (how == "emptied") std::filesystem::resize_file(path_, 0);
                if (how == "overwritten") write(path_, garbage, std::ios::in);
                if (how == "longer") write(path_, "more", std::ios::app);
                if (how == "removed") std::filesystem::remove(path_);
                if (how == "replaced") {
                    write(file("other"), garbage);
                    std::filesystem::rename(file("other"), path_);
                }
            });
            if (seen <= at) break;
            if (model) {
                QVERIFY2(read(path_) == original_, "loaded although it was changed");  // only after the last point
                continue;
            }
            const std::string message = model.error().message();
            QVERIFY2(message.find(path_) != std::string::npos, message.c_str());
            QVERIFY2(model.error().code == ErrorCode::input, message.c_str());
        }
    }

    void what_happens_later_does_not_reach_the_model() {
        const std::string sum = sha256_hex(original_.data(), original_.size());
        for (const char* how : {"emptied", "overwritten", "removed"}) {
            std::filesystem::remove(path_);
            write(path_, original_);
            const auto model = Model::load(path_);
            QVERIFY(model.ok());
            const std::vector<float> before = embedding_of(**model, 7);
            if (*how == 'e') std::filesystem::resize_file(path_, 0);
            if (*how == 'o') write(path_, std::string(original_.size(), 'x'), std::ios::in);
            if (*how == 'r') std::filesystem::remove(path_);
            QCOMPARE(embedding_of(**model, 7), before);
            QCOMPARE((*model)->encode_prompt("abc", false), (std::vector<int>{0, 1, 2}));
            QCOMPARE((*model)->sha256(), sum);
        }
    }

    void a_head_longer_than_what_is_read_first() {
        SmallModel large({});
        std::vector<std::string> many(300000);
        for (size_t i = 0; i < many.size(); ++i)
            many[i] = "a list that nobody reads, item " + std::to_string(i);
        large.writer().set("test.list", many);
        write(path_, large.writer().bytes());
        QVERIFY(std::filesystem::file_size(path_) > (size_t(12) << 20));
        const auto model = Model::load(path_);
        QVERIFY2(model.ok(), model ? "" : model.error().message().c_str());
    }

    void an_unfinished_download_is_incomplete() {
        for (const size_t n : {original_.size() - 1, original_.size() / 2, original_.size() - 40}) {
            write(path_, original_.substr(0, n));
            const auto model = Model::load(path_);
            QVERIFY(!model);
            QVERIFY(model.error().message().find("incomplete") != std::string::npos);
        }
        write(path_, "");
        QVERIFY(!Model::load(path_));
    }

    void files_of_the_wrong_kind() {
        const std::string fifo = file("fifo");
        QCOMPARE(mkfifo(fifo.c_str(), 0600), 0);
        write(file("unreadable"), original_);
        QCOMPARE(chmod(file("unreadable").c_str(), 0), 0);
        for (const std::string& path : {dir_.path().toStdString(), fifo, std::string("/dev/zero"),
                                        std::string("/proc/self/mem"), file("absent"), file("unreadable")}) {
            if (path == file("unreadable") && geteuid() == 0) continue;  // root reads everything
            const auto model = Model::load(path);
            QVERIFY2(!model && model.error().message().find(path) != std::string::npos, path.c_str());
        }
        for (const auto& [key, value, word] : {std::tuple("general.type", "adapter", "not a language model"),
                                               std::tuple("general.type", "mmproj", "not a language model")}) {
            SmallModel other({});
            other.writer().set(key, value);
            write(path_, other.writer().bytes());
            const auto model = Model::load(path_);
            QVERIFY2(!model && model.error().message().find(word) != std::string::npos, value);
        }
        SmallModel part({});
        part.writer().set("split.no", 1u);
        part.writer().set("split.count", 3u);
        write(path_, part.writer().bytes());
        const auto model = Model::load(path_);
        QVERIFY(!model && model.error().message().find("part 2 of 3") != std::string::npos);
    }

    void head_sizes_run_or_are_refused_by_name_data() {
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<bool>("runs");
        for (const int runs : {8, 10, 20, 80, 96, 100, 512})
            QTest::addRow("%d", runs) << runs << true;
        for (const int refused : {2, 6, 9, 11, 514, 1024, 2048, 100000})
            QTest::addRow("%d", refused) << refused << false;
    }
    void head_sizes_run_or_are_refused_by_name() {
        QFETCH(int, head_dim);
        QFETCH(bool, runs);
        SmallShape shape;
        shape.n_embd = 8, shape.n_heads = shape.n_kv_heads = 1, shape.n_ff = 8;
        shape.head_dim = head_dim;
        write(path_, SmallModel(shape).writer().bytes());
        const auto opened = GgufFile::open(path_);
        QVERIFY(opened.ok());
        const auto readable = read_model(**opened);
        const auto model = Model::load(path_);
        QCOMPARE(model.ok(), runs);
        QCOMPARE(readable.ok(), runs);
        if (runs) return;
        QCOMPARE(readable.error().message(), model.error().message());
        QVERIFY(model.error().message().find(std::to_string(head_dim)) != std::string::npos);
    }

    void what_is_asked_for_and_not_done_is_said_data() {
        QTest::addColumn<QString>("word");
        QTest::newRow("sliding window") << "sliding window of 16";
        QTest::newRow("norm of queries") << "blk.0.attn_q_norm.weight";
        QTest::newRow("two tokens alike") << "more than once";
        QTest::newRow("no pre-tokenizer") << "tokenizer.ggml.pre is missing";
        QTest::newRow("no BOS") << "BOS";
    }
    void what_is_asked_for_and_not_done_is_said() {
        QFETCH(QString, word);
        const std::string what = QTest::currentDataTag();
        SmallModel odd({});
        GgufWriter& w = odd.writer();
        if (what == "sliding window") w.set("llama.attention.sliding_window", 16u);
        if (what == "norm of queries") w.tensor("blk.0.attn_q_norm.weight", {16}, 3);
        if (what == "no pre-tokenizer") w.remove("tokenizer.ggml.pre");
        if (what == "no BOS") {
            w.set("tokenizer.ggml.add_bos_token", true);
            std::vector<int32_t> types(40, 1);
            types[11] = 3;  // a control token where llama.cpp looks for one
            w.set("tokenizer.ggml.token_type", types);
        }
        if (what == "two tokens alike") {
            std::vector<std::string> tokens;
            for (int i = 0; i < 40; ++i)
                tokens.push_back(i < 26 ? std::string(1, char('a' + i)) : "<same>");
            w.set("tokenizer.ggml.tokens", tokens);
        }
        write(path_, w.bytes());
        const auto opened = GgufFile::open(path_);
        const auto readable = read_model(**opened);
        QVERIFY(readable.ok());
        QVERIFY(mentions(readable->warnings, word.toStdString().c_str()));
        const auto model = Model::load(path_);
        QVERIFY(model.ok());
        QCOMPARE((*model)->warnings(), readable->warnings);
        QCOMPARE((*model)->encode_prompt("ab", false), (std::vector<int>{0, 1}));
    }

    void nothing_odd_is_nothing_said() {
        const auto warnings = Model::load(path_).value()->warnings();
        QVERIFY(warnings.size() == 1 && mentions(warnings, "byte values"));  // its tokens are 26 letters
    }

    void weights_written_anew_need_whole_blocks() {
        SmallShape shape;
        shape.n_embd = 40;
        write(path_, SmallModel(shape).writer().bytes());
        QVERIFY(Model::load(path_, {}, {}, WeightsAs::f16).ok());
        const auto model = Model::load(path_, {}, {}, WeightsAs::q4_0);
        QVERIFY(!model);
        QVERIFY(model.error().message().find("40") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestModelFile)
#include "tst_model_file.moc"
