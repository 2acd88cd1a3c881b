// SPDX-License-Identifier: GPL-3.0-or-later
// The worked examples that stand beside each scheme (kernels/codec, core/cache): they say what the code does.
#include <cmath>

#include "core/cache/golden_files.h"
#include "core/cache/group_codec.h"
#include "core/cache/lloyd_max.h"
#include "core/cache/quantize_tensor.h"
#include "core/cache/rotation.h"
#include "kernels/codec/exl3.h"
#include "kernels/codec/hqq.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

using Codec = SideSpec::Codec;
using Form = SideSpec::Form;
using Floats = std::vector<float>;
using Codes = std::vector<uint8_t>;

Floats in_fp16(Floats x) {
    for (float& v : x)
        v = kernels::round_to_half(v);
    return x;
}

const Floats kA = in_fp16({-1.25f, -0.5f, -0.1f, 0, 0.3f, 0.75f, 1, 2});

SideSpec side(Codec codec, int bits, int group, Form form = Form::shift) {
    SideSpec s;
    s.codec = codec, s.bits = bits, s.group = group, s.form = form;
    return s;
}

Rotation whole_head(int head_dim) {
    SideSpec s = side(Codec::fp32, 32, 0);
    s.rotation_block = SideSpec::kWholeHead;
    return Rotation(s, Side::k, head_dim);
}

Floats rotated(Floats x) {
    whole_head(int(x.size())).forward(x.data());
    return x;
}

/// x_i = sin(0.7 i)(1 + 0.1 i), 32 values.
Floats waves() {
    Floats x(32);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(std::sin(0.7 * double(i)) * (1 + 0.1 * double(i)));
    return x;
}

struct Coded {
    Codes codes;
    Floats scale, offset, values;
};

Coded code(const SideSpec& spec, const Floats& x) {
    const auto codec = make_codec(spec);
    const size_t group = size_t(spec.group), n_groups = x.size() / group;
    std::vector<uint16_t> scale(n_groups), offset(n_groups);
    Coded out{Codes(x.size()), {}, {}, {}};
    codec->encode(x.data(), n_groups, spec.group, out.codes.data(), scale.data(), offset.data());
    for (size_t g = 0; g < n_groups; ++g) {
        out.scale.push_back(kernels::half_to_float(scale[g]));
        out.offset.push_back(kernels::half_to_float(offset[g]));
    }
    for (size_t i = 0; i < x.size(); ++i)
        out.values.push_back(codec->value(out.codes[i], scale[i / group], offset[i / group]));
    return out;
}

bool near(const Floats& a, const Floats& b, float bound) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= bound)) return false;
    return true;
}

constexpr float kSixDigits = 6e-7f;

/// Codes of a ggml block of 4 bits: byte j has element j below and element j + 16 above.
Codes nibbles(const Codes& bytes) {
    Codes codes(32);
    for (size_t j = 0; j < 16; ++j)
        codes[j] = bytes[j] & 15, codes[j + 16] = bytes[j] >> 4;
    return codes;
}

}  // namespace

class WorkedExamples : public QObject {
    Q_OBJECT

 private slots:
    void quanto_and_kivi() {
        const Coded four = code(side(Codec::affine, 4, 8), kA);
        QCOMPARE(four.codes, (Codes{0, 3, 5, 6, 7, 9, 10, 15}));
        QCOMPARE(four.scale, Floats{0.2166748046875f});
        QCOMPARE(four.offset, Floats{1.25f});
        QCOMPARE(four.values, (Floats{-1.25f, -0.60009765625f, -0.1669921875f, 0.0498046875f, 0.2666015625f,
                                      0.7001953125f, 0.916015625f, 2}));
        for (const Form form : {Form::shift, Form::minimum}) {
            const Coded two = code(side(Codec::affine, 2, 8, form), kA);
            QCOMPARE(two.codes, (Codes{0, 1, 1, 1, 1, 2, 2, 3}));
            QCOMPARE(two.scale, Floats{1.0830078125f});
            QCOMPARE(two.offset, Floats{form == Form::shift ? 1.25f : -1.25f});
            QCOMPARE(two.values, (Floats{-1.25f, -0.1669921875f, -0.1669921875f, -0.1669921875f, -0.1669921875f,
                                         0.916015625f, 0.916015625f, 2}));
        }
    }

    void the_integer_zero_point() {
        const Coded c = code(side(Codec::affine, 4, 8, Form::integer), kA);
        QCOMPARE(c.codes, (Codes{0, 4, 6, 6, 7, 9, 11, 15}));
        QCOMPARE(c.scale, Floats{0.2166748046875f});
        QCOMPARE(c.offset, Floats{6});
        QCOMPARE(c.values, (Floats{-1.2998046875f, -0.433349609375f, 0, 0, 0.2166748046875f, 0.64990234375f,
                                   1.0830078125f, 1.9501953125f}));
    }

    void rotation() {
        QVERIFY(near(rotated(kA),
                     {0.777843f, -0.813147f, -1.272784f, -0.035347f, -2.085974f, 0.212123f, 0.106040f, -0.424290f},
                     kSixDigits));
        Floats back = rotated(kA);
        whole_head(8).inverse(back.data());
        QVERIFY(near(back, kA, kSixDigits));
        // Order 12: tst_rotation.cpp, the_published_paley_row.
    }

    void quarot() {
        const Coded c = code(side(Codec::affine, 4, 8, Form::quarot), in_fp16(rotated(kA)));
        QCOMPARE(c.codes, (Codes{15, 7, 4, 11, 0, 12, 11, 9}));
        QCOMPARE(c.scale, Floats{0.19091796875f});
        QCOMPARE(c.offset, Floats{2.0859375f});
        QCOMPARE(c.values, (Floats{0.77734375f, -0.75f, -1.322265625f, 0.013671875f, -2.0859375f, 0.205078125f,
                                   0.013671875f, -0.3671875f}));
    }

    void kv_hadamard() {
        const Coded c = code(side(Codec::affine, 2, 4, Form::minimum_f32), rotated(kA));
        QCOMPARE(c.codes, (Codes{3, 1, 0, 2, 0, 3, 3, 2}));
        QCOMPARE(c.scale, (Floats{0.68359375f, 0.76611328125f}));
        QCOMPARE(c.offset, (Floats{-1.2724609375f, -2.0859375f}));
        QCOMPARE(Floats(c.values.begin(), c.values.begin() + 4),
                 (Floats{0.7783203125f, -0.5888671875f, -1.2724609375f, 0.0947265625f}));
        Floats back = c.values;
        whole_head(8).inverse(back.data());
        QVERIFY(near(back, {-1.13213f, -0.541724f, -0.05835f, -0.117046f, 0.43331f, 0.541724f, 1.025098f, 2.050541f},
                     6e-6f));
    }

    void ternary() {
        const Coded c = code(side(Codec::ternary, 2, 8), kA);
        QCOMPARE(c.codes, (Codes{0, 1, 1, 1, 1, 1, 1, 2}));  // stored plus 1
        QCOMPARE(c.scale, Floats{2});
        QCOMPARE(c.values, (Floats{-2, 0, 0, 0, 0, 0, 0, 2}));
    }

    void hqq() {
        SideSpec spec = side(Codec::hqq, 4, 8);
        const Coded plain = code(spec, kA);
        const float s = kernels::hqq_inverse_scale(kernels::group_range(kA.data(), 8), 4);
        QVERIFY(near({s, 1.25f * s}, {4.6153846f, 5.7692308f}, kSixDigits));
        const Codes codes{0, 3, 5, 6, 7, 9, 10, 15};
        QCOMPARE(plain.codes, codes);
        QCOMPARE(plain.scale, Floats{0.2166748046875f});
        QCOMPARE(plain.offset, Floats{5.76953125f});
        QCOMPARE(plain.values, (Floats{-1.25f, -0.60009765625f, -0.166748046875f, 0.0499267578125f, 0.2666015625f,
                                       0.7001953125f, 0.91650390625f, 2}));

        spec.optimize = true;
        const Coded refined = code(spec, kA);
        double step = 0;
        for (size_t i = 0; i < 8; ++i) {
            step += (double(codes[i]) - double(kA[i]) * s) / 8;
            QVERIFY(std::abs(kA[i] - plain.values[i]) < 0.17f);  // all errors shrink to nothing
        }
        QVERIFY(std::abs(step - 5.605727) < 1e-6);
        QCOMPARE(refined.codes, codes);
        QCOMPARE(refined.scale, plain.scale);
        QCOMPARE(refined.offset, Floats{5.60546875f});
        QCOMPARE(refined.values[0], -1.21484375f);
        QCOMPARE(refined.values[7], 2.03515625f);
        for (size_t i = 0; i < 8; ++i)
            QVERIFY(std::abs(refined.values[i] - plain.values[i] - 0.0355f) < 1e-3f);
    }

    void ggml() {
        Floats block = kA;
        block.resize(32);
        const Coded q4_0 = code(side(Codec::ggml, 4, 32, Form::symmetric), block);
        Codes codes{13, 10, 8, 8, 7, 5, 4, 0};
        codes.resize(32, 8);
        Floats values{-1.25f, -0.5f, 0, 0, 0.25f, 0.75f, 1, 2};
        values.resize(32);
        QCOMPARE(q4_0.codes, codes);
        QCOMPARE(q4_0.scale, Floats{-0.25f});
        QCOMPARE(q4_0.values, values);
        const Coded q4_1 = code(side(Codec::ggml, 4, 32, Form::minimum_f32), block);
        codes = {0, 3, 5, 6, 7, 9, 10, 15};
        codes.resize(32, 6);
        QCOMPARE(q4_1.codes, codes);
        QCOMPARE(q4_1.scale, Floats{0.2166748046875f});
        QCOMPARE(q4_1.offset, Floats{-1.25f});
    }

    /// docs/spec/kv-cache-schemes.md, 6.1.
    void a_ggml_block_of_every_type() {
        const Coded q8_0 = code(side(Codec::ggml, 8, 32, Form::symmetric), waves());
        QCOMPARE(q8_0.scale, Floats{0.030487060546875f});
        const int signed_codes[] = {0,   23,  39, 37, 15, -17, -46, -55, -37, 1,    43,  68, 62, 24,  -29, -72,
                                    -84, -55, 3,  64, 97, 86,  32,  -41, -99, -112, -71, 6,  85, 127, 110, 39};
        for (size_t i = 0; i < 32; ++i)
            QCOMPARE(int(q8_0.codes[i]) - 128, signed_codes[i]);
        const Coded q4_0 = code(side(Codec::ggml, 4, 32, Form::symmetric), waves());
        QCOMPARE(q4_0.scale, Floats{-0.48388671875f});
        QCOMPARE(q4_0.codes, nibbles({0xd8, 0xb7, 0x86, 0x46, 0x27, 0x39, 0x6b, 0xbb, 0xea, 0xf8, 0xc5, 0x84, 0x34,
                                      0x06, 0x1a, 0x6d}));
        const Coded q4_1 = code(side(Codec::ggml, 4, 32, Form::minimum_f32), waves());
        QCOMPARE(q4_1.scale, Floats{0.48583984375f});
        QCOMPARE(q4_1.offset, Floats{-3.4140625f});
        QCOMPARE(q4_1.codes, nibbles({0x27, 0x48, 0x79, 0xb9, 0xd8, 0xc6, 0x94, 0x44, 0x15, 0x07, 0x3a, 0x7b, 0xcb,
                                      0xf9, 0xe5, 0x93}));
        const Coded q5_1 = code(side(Codec::ggml, 5, 32, Form::minimum_f32), waves());
        QCOMPARE(q5_1.scale, Floats{0.235107421875f});
        QCOMPARE(q5_1.offset, Floats{-3.4140625f});
        Codes fives =
            nibbles({0x4f, 0x72, 0xf4, 0x73, 0xb1, 0xac, 0x39, 0x97, 0x2a, 0x0f, 0x54, 0xf7, 0xa7, 0xf2, 0xdb, 0x45});
        for (size_t i = 0; i < 32; ++i)
            fives[i] = uint8_t(fives[i] | (0xf0783c1eu >> i & 1u) << 4);  // qh: the fifth bits
        QCOMPARE(q5_1.codes, fives);
    }

    void turbo() {
        const Floats x = rotated(kA);
        const Codebook& book = lloyd_max(2, 8);
        QVERIFY(near(book.centroids, {-0.5048246f, -0.1579221f, 0.1579221f, 0.5048246f}, 1e-7f));
        QVERIFY(near(book.thresholds, {-0.3313734f, 0, 0.3313734f}, 1e-7f));
        double squares = 0;
        for (const float v : x)
            squares += double(v) * v;
        QVERIFY(std::abs(std::sqrt(squares) - 2.734049) < 1e-6);
        Floats direction = x;
        for (float& v : direction)
            v /= float(std::sqrt(squares));
        QVERIFY(near(direction,
                     {0.284502f, -0.297415f, -0.465531f, -0.012928f, -0.762961f, 0.077586f, 0.038785f, -0.155187f},
                     kSixDigits));
        const Coded c = code(side(Codec::turbo, 2, 8), x);
        QCOMPARE(c.codes, (Codes{2, 1, 0, 1, 0, 2, 2, 1}));
        QCOMPARE(c.scale, Floats{2.734375f});
        const float level[] = {-1.3803799f, -0.4318182f, 0.4318182f};
        for (size_t i = 0; i < 8; ++i)
            QVERIFY(std::abs(c.values[i] - level[c.codes[i]]) < 1e-7f);
    }

    void exl3() {
        const Floats x{2, -1, 0.25f, -0.5f}, values{1.5f, -0.5f, 0.5f, -0.5f};
        Codes codes(4);
        const float s = kernels::exl3_encode(x.data(), 4, 2, codes.data());
        QCOMPARE(s, 2.0f);
        QCOMPARE(codes, (Codes{3, 1, 2, 1}));
        for (size_t i = 0; i < 4; ++i)  // the value carries the 1/sqrt(32) of the way back
            QVERIFY(std::abs(kernels::exl3_value(codes[i], s, 2) / kernels::kExl3Norm - values[i]) < kSixDigits);

        std::vector<uint16_t> group;
        for (const float v : waves())
            group.push_back(kernels::float_to_half(v));
        const auto whole = quantize_tensor(spec_of("exl3:4"), Side::k, group.data(), 1, 1, 32).value();
        QCOMPARE(whole.stored.scale, std::vector<uint16_t>{kernels::float_to_half(6.32421875f)});
        QCOMPARE(Codes(whole.stored.codes.begin(), whole.stored.codes.begin() + 10),
                 (Codes{9, 7, 7, 7, 3, 4, 0, 9, 7, 8}));
        QCOMPARE(whole.packed, (Codes{0x79, 0x77, 0x43, 0x90, 0x87, 0x88, 0x8b, 0x67, 0x87, 0x89, 0x8f, 0x58, 0x77,
                                      0x87, 0x96, 0x8a}));  // four little-endian words
    }

    void fp8() {
        const Coded one = code(side(Codec::fp8, 8, 5), {0.1f, 17, 300, 448, 1000});
        QCOMPARE(one.codes, (Codes{0x1d, 0x58, 0x79, 0x7e, 0x7e}));
        QCOMPARE(one.values, (Floats{0.1015625f, 16, 288, 448, 448}));
        SideSpec spec = side(Codec::fp8, 8, 5);
        spec.fp8_scale = 0.0375f;
        const Coded scaled = code(spec, {0.1f, -0.3f, 1, 3.14159f, -7.5f});
        QCOMPARE(scaled.codes, (Codes{0x43, 0xd0, 0x5d, 0x6a, 0xf4}));
        const float steps[] = {2.75f, -8, 26, 80, -192};
        for (size_t i = 0; i < 5; ++i)
            QCOMPARE(scaled.values[i], kernels::round_to_half(steps[i] * spec.fp8_scale));
    }
};

QTEST_APPLESS_MAIN(WorkedExamples)
#include "tst_worked_examples.moc"
