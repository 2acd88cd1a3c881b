// SPDX-License-Identifier: GPL-3.0-or-later
// Every codec against the original library: codes, constants, packed bytes, dequantized values; and on edge inputs.
#include "core/cache/golden_files.h"
#include "core/cache/quantize_tensor.h"
#include "kernels/codec/affine.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

struct CodecRow {
    const char* golden;
    const char* spec;
    const char* offset_field;  ///< what the original calls the second constant
};

constexpr CodecRow kCodecs[] = {
    {"quanto4.axis0.g64", "quanto:4", "shift"},
    {"quanto4.axis0.g32", "quanto:4,group=32", "shift"},
    {"quanto4.axis-1.g64", "quanto:4,axis_key=-1,axis_value=-1", "shift"},
    {"quanto2.axis0.g64", "quanto:2", "shift"},
    {"quanto2.axis0.g32", "quanto:2,group=32", "shift"},
    {"quanto2.axis-1.g64", "quanto:2,axis_key=-1,axis_value=-1", "shift"},
    {"hqq8.axis1.g64.opt1", "hqq:8", "zero"},
    {"hqq4.axis1.g64.opt1", "hqq:4", "zero"},
    {"hqq2.axis1.g64.opt1", "hqq:2", "zero"},
    {"hqq1.axis1.g64.opt1", "hqq:1", "zero"},
    {"hqq4.axis1.g64.opt0", "hqq:4,optimize=off", "zero"},
    {"hqq2.axis1.g64.opt0", "hqq:2,optimize=off", "zero"},
    {"hqq4.axis0.g64.opt1", "hqq:4,axis_key=0,axis_value=0", "zero"},
    {"hqq3.axis0.g64.opt1", "hqq:3,axis_key=0,axis_value=0", "zero"},
    {"kivi4.g32", "kivi:4", "mn"},
    {"kivi4.g64", "kivi:4,group=64,residual=64", "mn"},
    {"kivi2.g32", "kivi:2", "mn"},
    {"kivi2.g64", "kivi:2,group=64,residual=64", "mn"},
    {"hadamard2.g32", "hadamard:2", "mn"},
};

/// Schemes whose goldens have other fields: what is there is compared.
struct OtherRow {
    const char* golden;
    const char* spec;
    const char* values;        ///< field of the dequantized values as attention reads them
    const char* offset_field;  ///< "" when there is none
};

constexpr OtherRow kOthers[] = {
    {"ternary.g32", "ternary", "dequantized", ""},
    {"hadamard_ternary.g32", "hadamard-ternary", "dequantized", ""},
    {"ggml_q8_0", "ggml:q8_0,rotate=off", "dequantized", ""},
    {"ggml_q4_0", "ggml:q4_0,rotate=off", "dequantized", ""},
    {"ggml_q4_1", "ggml:q4_1,rotate=off", "dequantized", ""},
    {"ggml_q5_0", "ggml:q5_0,rotate=off", "dequantized", ""},
    {"ggml_q5_1", "ggml:q5_1,rotate=off", "dequantized", ""},
    {"ggml_q8_0.rotated", "ggml:q8_0", "dequantized", ""},
    {"ggml_q4_0.rotated", "ggml:q4_0", "dequantized", ""},
    {"ggml_q4_1.rotated", "ggml:q4_1", "dequantized", ""},
    {"ggml_q5_0.rotated", "ggml:q5_0", "dequantized", ""},
    {"ggml_q5_1.rotated", "ggml:q5_1", "dequantized", ""},
    {"quarot4", "quarot:4", "dequantized_rotated", "zero"},
    {"exl3_4", "exl3:4", "dequantized", ""},
    {"exl3_3", "exl3:3", "dequantized", ""},
    {"exl3_2", "exl3:2", "dequantized", ""},
    {"tq_mse_4", "tq:4", "dequantized_rotated", ""},
    {"tq_mse_3", "tq:3", "dequantized_rotated", ""},
    {"tq_mse_2", "tq:2", "dequantized_rotated", ""},
    {"fp8_e4m3.scale1", "fp8", "dequantized", ""},
};

struct EdgeRow {
    const char* golden;
    const char* spec;
    Side side;
};

constexpr EdgeRow kEdges[] = {
    {"quanto4.axis0.g64", "quanto:4", Side::k},
    {"quanto2.axis0.g64", "quanto:2", Side::v},
    {"quanto4.axis0.g32", "quanto:4,group=32", Side::k},
    {"quanto4.axis-1.g32 of transposed", "quanto:4,group=32,axis_key=-1", Side::k},
    {"hqq4.axis1.g64.opt1", "hqq:4", Side::v},
    {"hqq4.axis1.g64.opt0", "hqq:4,optimize=off", Side::v},
    {"kivi4.v.g32", "kivi:4", Side::v},
    {"kivi2.v.g32", "kivi:2", Side::v},
    {"kivi4.k.g32 of transposed", "kivi:4", Side::k},
    {"kivi2.k.g32 of transposed", "kivi:2", Side::k},
    {"hadamard2.v.g32 (rotated)", "hadamard:2", Side::v},
    {"ternary.v.g32", "ternary", Side::v},
    {"fp8", "fp8", Side::v},
};

template <class T>
size_t count_different(const std::vector<T>& a, const std::vector<T>& b) {
    size_t n = 0;
    for (size_t i = 0; i < a.size(); ++i)
        n += a[i] != b[i];
    return n;
}

size_t count_different_halves(const std::vector<uint16_t>& a, const std::vector<uint16_t>& b) {
    size_t n = 0;
    for (size_t i = 0; i < a.size(); ++i)
        n += !same_half(a[i], b[i]);
    return n;
}

HalfTensor transposed(const HalfTensor& in) {
    HalfTensor out{in.n_kv_heads, in.head_dim, in.n_tokens, std::vector<uint16_t>(in.x.size())};
    for (int h = 0; h < in.n_kv_heads; ++h)
        for (int t = 0; t < in.n_tokens; ++t)
            for (int d = 0; d < in.head_dim; ++d)
                out.x[size_t((h * in.head_dim + d) * in.n_tokens + t)] =
                    in.x[size_t((h * in.n_tokens + t) * in.head_dim + d)];
    return out;
}

}  // namespace

class CodecGoldens : public QObject {
    Q_OBJECT

    SafetensorsFile kv_ = golden_tensors("tensors/kv.safetensors");
    SafetensorsFile codecs_ = golden_tensors("tensors/codecs.safetensors");
    SafetensorsFile edge_ = golden_tensors("tensors/edge.safetensors");
    nlohmann::json info_ = golden_json("tensors/codecs.json");

    void compare(const QuantizedTensor& got, const std::string& name, const char* offset_field) {
        const auto bytes = [&](const char* field) { return codecs_.tensor(name + field).value().values<uint8_t>(); };
        const auto halves = [&](const char* field) { return codecs_.tensor(name + field).value().values<uint16_t>(); };
        QCOMPARE(got.stored.codes.size(), bytes("codes").size());
        QCOMPARE(count_different(got.stored.codes, bytes("codes")), size_t(0));
        QCOMPARE(got.packed.size(), bytes("packed").size());
        QCOMPARE(count_different(got.packed, bytes("packed")), size_t(0));
        QCOMPARE(got.stored.scale.size(), halves("scale").size());
        QCOMPARE(count_different_halves(got.stored.scale, halves("scale")), size_t(0));
        QCOMPARE(count_different_halves(got.stored.offset, halves(offset_field)), size_t(0));
        QCOMPARE(count_different_halves(got.dequantized, halves("dequantized")), size_t(0));
    }

    void compare_what_is_there(const QuantizedTensor& got, const std::string& name, const nlohmann::json& fields,
                               const OtherRow& codec) {
        const auto bytes = [&](const std::string& f) { return codecs_.tensor(name + f).value().values<uint8_t>(); };
        const auto halves = [&](const std::string& f) { return codecs_.tensor(name + f).value().values<uint16_t>(); };
        const auto has = [&](const char* f) { return fields.contains(f); };
        QVERIFY(has("codes") || has("blocks"));
        if (has("codes")) QCOMPARE(count_different(got.stored.codes, bytes("codes")), size_t(0));
        for (const char* packed : {"packed", "blocks"}) {
            if (!has(packed)) continue;
            QCOMPARE(got.packed.size(), bytes(packed).size());
            QCOMPARE(count_different(got.packed, bytes(packed)), size_t(0));
        }
        if (has("scale")) QCOMPARE(count_different_halves(got.stored.scale, halves("scale")), size_t(0));
        if (*codec.offset_field)
            QCOMPARE(count_different_halves(got.stored.offset, halves(codec.offset_field)), size_t(0));
        const auto values = codecs_.tensor(name + codec.values).value();
        if (fields[codec.values][0] == "float32")
            QVERIFY(got.values == values.values<float>());
        else
            QCOMPARE(count_different_halves(got.dequantized, values.values<uint16_t>()), size_t(0));
    }

    /// Quantizes every recorded input of a codec; check(result, name of its fields, what the json says of it).
    template <class F>
    void each_input(const char* golden, const char* spec, F&& check) {
        int compared = 0;
        for (const auto& [input, part] : info_[golden]["inputs"].items()) {
            const Side side = input.back() == 'k' ? Side::k : Side::v;
            const HalfTensor x = half_tensor(kv_, input).first_tokens(part["tokens"]);
            const auto got = quantize_tensor(spec_of(spec), side, x.x.data(), x.n_kv_heads, x.n_tokens, x.head_dim);
            QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
            check(*got, std::string(golden) + "/" + input + "/", part);
            ++compared;
        }
        QVERIFY(compared >= 2);
    }

 private slots:
    void tensors_data() {
        QTest::addColumn<int>("row");
        for (size_t i = 0; i < std::size(kCodecs); ++i)
            QTest::newRow(kCodecs[i].golden) << int(i);
    }

    void tensors() {
        QFETCH(int, row);
        const CodecRow& codec = kCodecs[row];
        each_input(codec.golden, codec.spec,
                   [&](const QuantizedTensor& got, const std::string& name, const nlohmann::json&) {
                       compare(got, name, codec.offset_field);
                   });
    }

    void other_tensors_data() {
        QTest::addColumn<int>("row");
        for (size_t i = 0; i < std::size(kOthers); ++i)
            QTest::newRow(kOthers[i].golden) << int(i);
    }

    void other_tensors() {
        QFETCH(int, row);
        const OtherRow& codec = kOthers[row];
        each_input(codec.golden, codec.spec,
                   [&](const QuantizedTensor& got, const std::string& name, const nlohmann::json& part) {
                       compare_what_is_there(got, name, part["fields"], codec);
                   });
    }

    /// ggml's blocks of constant groups, zeros, ties and outliers.
    void ggml_edges() {
        const HalfTensor x = half_tensor(edge_, "finite/input");
        for (const std::string type : {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1"}) {
            const auto got = quantize_tensor(spec_of("ggml:" + type + ",rotate=off"), Side::v, x.x.data(), x.n_kv_heads,
                                             x.n_tokens, x.head_dim);
            QVERIFY(got.ok());
            const auto want = edge_.tensor("finite/ggml_" + type + "/blocks").value().values<uint8_t>();
            QCOMPARE(got->packed.size(), want.size());
            for (size_t i = 0; i < want.size(); ++i)
                QVERIFY2(got->packed[i] == want[i], qPrintable(QString("%1 byte %2: %3 against %4")
                                                                   .arg(type.c_str())
                                                                   .arg(i)
                                                                   .arg(got->packed[i])
                                                                   .arg(want[i])));
        }
    }

    void edges_data() {
        QTest::addColumn<int>("row");
        for (size_t i = 0; i < std::size(kEdges); ++i)
            QTest::newRow(kEdges[i].golden) << int(i);
    }

    /// Constant groups, fp16 overflow, subnormals, exact ties, NaN and infinities.
    void edges() {
        QFETCH(int, row);
        const EdgeRow& edge = kEdges[row];
        for (const std::string which : {"finite", "nonfinite"}) {
            HalfTensor x = half_tensor(edge_, which + "/input");
            if (QByteArray(edge.golden).endsWith("transposed")) x = transposed(x);
            const auto got =
                quantize_tensor(spec_of(edge.spec), edge.side, x.x.data(), x.n_kv_heads, x.n_tokens, x.head_dim);
            QVERIFY(got.ok());
            const auto want = edge_.tensor(which + "/" + edge.golden).value().values<uint16_t>();
            QCOMPARE(got->dequantized.size(), want.size());
            for (size_t i = 0; i < want.size(); ++i) {
                if (same_half(got->dequantized[i], want[i])) continue;
                // An all-zero ternary group is 0/0 = NaN in the original; here it stays 0.
                const bool zero_group = QByteArray(edge.golden).startsWith("ternary") && got->stored.scale[i / 32] == 0;
                QVERIFY2(zero_group && (got->dequantized[i] & 0x7fff) == 0,
                         qPrintable(QString("%1 element %2").arg(which.c_str()).arg(i)));
            }
        }
    }

    void rotation_matches_the_recorded_one() {
        const HalfTensor x = half_tensor(kv_, "layer5.v").first_tokens(64);
        const auto want = codecs_.tensor("hadamard2.g32/layer5.v/rotated").value().values<float>();
        const auto cache = make_cache("hadamard:2,v_residual=0", {1, 3, 64, 64});
        std::vector<float> row(64), back(64);
        cache->begin_prompt(64);
        cache->extend(0, 64);
        for (int h = 0; h < 3; ++h)
            for (int t = 0; t < 64; ++t) {
                for (size_t d = 0; d < 64; ++d)
                    row[d] = kernels::half_to_float(x.x[size_t(h * 64 + t) * 64 + d]);
                cache->put(0, h, t, row.data(), row.data());
            }
        QVERIFY(cache->finish_prompt(0, Side::v).ok());
        for (int h = 0; h < 3; ++h)
            for (int t = 0; t < 64; ++t) {
                KvCache::GroupView view;
                cache->read(0, h, Side::v, t, t + 1, back.data());
                QVERIFY(cache->codes_at(0, h, Side::v, t, &view));
                for (size_t d = 0; d < 64;
                     ++d)  // half a step, and the rounding of both constants and of two operations
                    QVERIFY(std::abs(back[d] - want[size_t(h * 64 + t) * 64 + d]) <= 0.51f * view.scale[d] + 0.02f);
            }
    }

    void the_branchless_rounding_is_the_rounding() {
        for (uint64_t step = 0, bits = 0; bits < (uint64_t{1} << 32); bits += 1 + step++ % 1021) {
            const float f = kernels::float_from_bits(uint32_t(bits));
            const float a = kernels::round_to_half_select(f), b = kernels::round_to_half(f);
            if (b != b) {
                QVERIFY(a != a);
            } else {
                QCOMPARE(kernels::float_bits(a), kernels::float_bits(b));
            }
        }
    }

    void shapes_the_originals_cannot_pack_are_refused() {
        const std::vector<uint16_t> x(3 * 50 * 64, 0x3c00);
        const auto hqq = quantize_tensor(spec_of("hqq:2"), Side::k, x.data(), 3, 50, 64);
        QVERIFY(!hqq.ok());
        QVERIFY(hqq.error().message().find("150 rows in 4 equal parts") != std::string::npos);
        const auto kivi = quantize_tensor(spec_of("kivi:2"), Side::k, x.data(), 3, 50, 64);
        QVERIFY(!kivi.ok());
        QVERIFY(kivi.error().message().find("groups of 32") != std::string::npos);
        const auto quanto = quantize_tensor(spec_of("quanto:4,axis_key=-1"), Side::k, x.data(), 3, 50, 64);
        QVERIFY(!quanto.ok());
        QVERIFY(quanto.error().message().find("multiples of 64") != std::string::npos);
        const auto exact = quantize_tensor(spec_of("fp16"), Side::k, x.data(), 3, 50, 64);
        QVERIFY(!exact.ok());
    }
};

QTEST_APPLESS_MAIN(CodecGoldens)
#include "tst_codec_goldens.moc"
