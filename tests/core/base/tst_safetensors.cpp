// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "core/base/safetensors.h"

using namespace kvasir;

namespace {

/// A file of the given header text and data bytes.
std::string file_of(const std::string& header, const std::string& data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
        bytes += char(header.size() >> (8 * i) & 255);
    return bytes + header + data;
}

}  // namespace

class SafetensorsTest : public QObject {
    Q_OBJECT

 private slots:
    void what_is_written_is_read() {
        const std::vector<uint8_t> codes{1, 2, 3};
        const std::vector<float> values{1.5f, -2.0f, 3.25f, 4.0f};
        const std::vector<int32_t> numbers{-7};
        const std::vector<uint16_t> halves;
        const std::string bytes = safetensors_bytes({{"codes", TensorType::u8, {3}, codes.data()},
                                                     {"values", TensorType::f32, {2, 2}, values.data()},
                                                     {"number", TensorType::i32, {}, numbers.data()},
                                                     {"none", TensorType::f16, {4, 0}, halves.data()}},
                                                    {{"made", "by a test"}});
        const auto file = SafetensorsFile::parse(bytes, "memory");
        QVERIFY2(file.ok(), file.ok() ? "" : file.error().message().c_str());
        QCOMPARE(file->tensors().size(), size_t(4));
        QCOMPARE(file->metadata().at("made"), std::string("by a test"));
        QVERIFY(file->tensor("codes")->values<uint8_t>() == codes);
        QVERIFY(file->tensor("values")->values<float>() == values);
        QVERIFY((file->tensor("values")->shape == std::vector<int64_t>{2, 2}));
        QVERIFY(file->tensor("number")->values<int32_t>() == numbers);
        QVERIFY(file->tensor("number")->shape.empty());
        QCOMPARE(file->tensor("none")->n_elements, size_t(0));
        const SafetensorsFile copy = *file;
        QVERIFY(copy.tensor("values")->values<float>() == values);
    }

    void a_missing_tensor_is_named_with_those_present() {
        const float x = 1;
        const auto file =
            SafetensorsFile::parse(safetensors_bytes({{"layer5.k", TensorType::f32, {1}, &x}}), "rec.safetensors");
        const auto missing = file->tensor("layer6.k");
        QVERIFY(!missing.ok());
        const std::string message = missing.error().message();
        QVERIFY(message.find("layer6.k") != std::string::npos && message.find("layer5.k") != std::string::npos &&
                message.find("rec.safetensors") != std::string::npos);
    }

    void malformed_files_are_refused_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("why");
        const auto row = [](const char* name, const std::string& bytes, const char* why) {
            QTest::newRow(name) << QByteArray(bytes.data(), int(bytes.size())) << why;
        };
        const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
        row("empty", "", "shorter");
        row("header beyond the end", std::string("\xff\0\0\0\0\0\0\0{}", 10), "claims 255 bytes");
        row("huge header", std::string(7, '\xff') + "\x7f{}", "claims");
        row("not JSON", file_of("{", ""), "JSON");
        row("array", file_of("[]", ""), "JSON object");
        row("deep", file_of(R"({"a":)" + std::string(10000, '[') + std::string(10000, ']') + "}", ""), "nested");
        row("duplicate", file_of("{" + a + "," + a + "}", "1234"), "'a' stands there twice");
        row("unknown type", file_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", "1234"), "BF16");
        row("missing key", file_of(R"({"a":{"dtype":"U8","shape":[4]}})", "1234"), "data_offsets");
        row("negative", file_of(R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", "1234"), "whole number");
        row("beyond data", file_of(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "1234"),
            "outside the 4");
        row("backwards", file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[4,0]}})", "1234"), "outside");
        row("wrong length", file_of(R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,4]}})", "1234"), "4 bytes");
        row("overflowing shape",
            file_of(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", "1234"),
            "too large");
        row("overflowing bytes",
            file_of(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "1234"), "4 bytes");
        row("gap", file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", "1234"), "gap");
        row("overlap", file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", "1234"),
            "overlap");
        row("rest", file_of("{" + a + "}", "12345"), "1 bytes behind");
        row("metadata", file_of(R"({"__metadata__":{"a":1}})", ""), "__metadata__");
    }

    void malformed_files_are_refused() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, why);
        const auto file = SafetensorsFile::parse(bytes.toStdString(), "bad");
        QVERIFY(!file.ok());
        const QString message = QString::fromStdString(file.error().message());
        QVERIFY2(message.contains(why), qPrintable(message));
    }

    void header_may_be_padded() {
        const auto file = SafetensorsFile::parse(
            file_of("  {\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}   ", "1234"), "x");
        QVERIFY(file.ok());
        QVERIFY((file->tensor("a")->values<uint8_t>() == std::vector<uint8_t>{'1', '2', '3', '4'}));
    }

    void a_file_that_is_not_there() {
        const auto file = SafetensorsFile::open("no/such/file.safetensors");
        QVERIFY(!file.ok());
    }
};

QTEST_APPLESS_MAIN(SafetensorsTest)
#include "tst_safetensors.moc"
