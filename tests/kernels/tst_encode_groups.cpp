// SPDX-License-Identifier: GPL-3.0-or-later
// The compiled-per-target encoders against the plain functions of kernels/codec, to the bit.
#include <QtTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/codec/affine.h"
#include "kernels/codec/ggml.h"
#include "kernels/codec/ternary.h"
#include "kernels/cpu/encode_groups.h"

using namespace kvasir::kernels;

namespace {

struct Coded {
    std::vector<uint8_t> codes;
    uint16_t scale = 0, offset = 0;
    bool operator==(const Coded&) const = default;
};

Coded plain(const GroupEncoder& how, const std::vector<float>& x) {
    const int n = int(x.size());
    Coded out;
    out.codes.resize(x.size());
    const auto keep = [&](float scale, float offset) {
        out.scale = float_to_half(scale), out.offset = float_to_half(offset);
    };
    const GroupRange range = group_range(x.data(), n);
    uint8_t* const codes = out.codes.data();
    switch (how.encoding) {
        case GroupEncoding::affine: {
            const auto c = affine_encode(x.data(), n, range, how.bits, how.least_range, codes);
            keep(c.scale, how.offset_sign * c.minimum);
            break;
        }
        case GroupEncoding::affine_f32: {
            const auto c = affine_encode_f32(x.data(), n, range, how.bits, codes);
            keep(c.scale, how.offset_sign * c.minimum);
            break;
        }
        case GroupEncoding::affine_integer: {
            const auto c = affine_encode_integer(x.data(), n, range, how.bits, codes);
            keep(c.scale, c.zero_point);
            break;
        }
        case GroupEncoding::ternary:
            keep(ternary_encode(x.data(), n, codes), 0);
            break;
        case GroupEncoding::ggml_q8:
            keep(ggml_encode_q8(x.data(), n, ggml_extreme(x.data(), n), codes).d, 0);
            break;
        case GroupEncoding::ggml_symmetric:
            keep(ggml_encode_symmetric(x.data(), n, ggml_extreme(x.data(), n), how.bits, codes).d, 0);
            break;
        case GroupEncoding::ggml_offset: {
            const auto c = ggml_encode_offset(x.data(), n, how.bits, codes);
            keep(c.d, c.m);
            break;
        }
    }
    return out;
}

Coded compiled(const GroupEncoder& how, const std::vector<float>& x) {
    Coded out;
    out.codes.resize(x.size());
    encode_groups(how, x.data(), 1, int(x.size()), out.codes.data(), &out.scale, &out.offset);
    return out;
}

/// Groups that go wrong first: constant, zeros of both signs, subnormal, huge, not finite.
std::vector<std::vector<float>> groups_of(int n, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> out;
    for (const float size : {1.0f, 1e-3f, 6e-6f, 3e-8f, 400.0f, 30000.0f}) {
        std::vector<float> x(static_cast<size_t>(n));
        for (float& v : x)
            v = round_to_half(size * normal(random));
        out.push_back(x);
        x[size_t(n) / 2] = -0.0f, x[size_t(n) / 3] = 0.0f;
        out.push_back(x);
        for (float& v : x)
            v = std::fabs(v);
        x.back() = -0.0f;
        out.push_back(x);
        for (float& v : x)
            v = -std::fabs(v);
        out.push_back(x);
    }
    out.emplace_back(size_t(n), 0.0f);
    out.emplace_back(size_t(n), -0.0f);
    out.emplace_back(size_t(n), 0.37109375f);
    out.emplace_back(size_t(n), 65504.0f);
    constexpr float kInf = std::numeric_limits<float>::infinity();
    for (const float odd : {NAN, kInf, -kInf})
        for (const int at : {0, n / 2, n - 1}) {
            std::vector<float> x = out.front();
            x[size_t(at)] = odd;
            out.push_back(x);
        }
    return out;
}

}  // namespace

class TestEncodeGroups : public QObject {
    Q_OBJECT

 private slots:
    void equalsThePlainFunctions() {
        std::mt19937 random(11);
        int n_compared = 0;
        for (const int n : {1, 8, 12, 32, 64, 128})
            for (const GroupEncoding encoding :
                 {GroupEncoding::affine, GroupEncoding::affine_f32, GroupEncoding::affine_integer,
                  GroupEncoding::ternary, GroupEncoding::ggml_q8, GroupEncoding::ggml_symmetric,
                  GroupEncoding::ggml_offset})
                for (const int bits : {1, 2, 4, 5, 8})
                    for (const float sign : {-1.0f, 1.0f})
                        for (const float least : {0.0f, round_to_half(1e-5f)})
                            for (const auto& x : groups_of(n, random)) {
                                const GroupEncoder how{encoding, bits, least, sign};
                                const Coded want = plain(how, x), got = compiled(how, x);
                                QVERIFY2(got == want, qPrintable(QStringLiteral("encoding %1, %2 bits, group %3")
                                                                     .arg(int(encoding))
                                                                     .arg(bits)
                                                                     .arg(n)));
                                ++n_compared;
                            }
        QVERIFY(n_compared > 10000);
    }

    void groupsThatRest() {
        std::mt19937 random(12);
        int n_rest = 0, n_move = 0;
        for (const int n : {8, 12, 32, 64})
            for (const int bits : {2, 4, 8})
                for (const float sign : {-1.0f, 1.0f})
                    for (const auto& x : groups_of(n, random)) {
                        const GroupEncoder how{GroupEncoding::affine, bits, 0, sign};
                        QVERIFY(knows_rest(how, n));
                        const Coded once = compiled(how, x);
                        std::vector<float> values;
                        for (const uint8_t code : once.codes)
                            values.push_back(affine_value(float(code), half_to_float(once.scale),
                                                          sign * half_to_float(once.offset)));
                        const bool rests = plain(how, values) == once;
                        QCOMPARE(groups_rest(how, once.codes.data(), 1, n, &once.scale, &once.offset), rests);
                        ++(rests ? n_rest : n_move);
                    }
        QVERIFY(n_rest > 100 && n_move > 5);
        QVERIFY(!knows_rest({GroupEncoding::affine_f32, 4}, 32));
        QVERIFY(!knows_rest({GroupEncoding::affine, 4}, 1 << 20));
    }
};

QTEST_APPLESS_MAIN(TestEncodeGroups)
#include "tst_encode_groups.moc"
