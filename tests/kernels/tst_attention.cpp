// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "kernels/attention_reference.h"

using namespace kvasir::kernels;
using namespace kvasir::kernels::test;

namespace {

// Published forms: plain minimum, Quanto's shift, HQQ's zero in code units.
constexpr AffineForm kForms[] = {{1, 0}, {-1, 0}, {0, -1}};
constexpr double kTolerance = 1e-5;
constexpr float kUntouched = 12345.0f;

// Scores of blocks [begin, end) against the reference. Returns the largest error over sum |q_d| max |x|.
double worst_score(const std::vector<float>& q, const std::vector<double>& values, int head_dim, int n_queries,
                   int begin, int end, const std::vector<float>& out, size_t stride) {
    double worst = 0;
    for (int h = 0; h < n_queries; ++h)
        for (int i = 0; i < 8 * (end - begin); ++i) {
            double magnitude;
            const double expected = reference_score(
                &q[size_t(h * head_dim)], &values[size_t(8 * begin + i) * size_t(head_dim)], head_dim, &magnitude);
            worst = std::max(worst, std::fabs(double(out[size_t(h) * stride + size_t(i)]) - expected) / magnitude);
        }
    return worst;
}

// acc, which held `before`, against the reference. Returns the largest error over max |x| (the p of a row sum to 1).
double worst_sum(const std::vector<float>& p, size_t p_stride, const std::vector<double>& values, int head_dim,
                 int n_queries, int token_begin, int token_end, const std::vector<float>& acc, size_t acc_stride,
                 double before) {
    double largest = 0, worst = 0;
    for (double x : values)
        largest = std::max(largest, std::fabs(x));
    for (int h = 0; h < n_queries; ++h)
        for (int d = 0; d < head_dim; ++d) {
            double sum = before;
            for (int t = token_begin; t < token_end; ++t)
                sum += double(p[size_t(h) * p_stride + size_t(t - token_begin)]) *
                       values[size_t(t) * size_t(head_dim) + size_t(d)];
            worst = std::max(worst, std::fabs(double(acc[size_t(h) * acc_stride + size_t(d)]) - sum));
        }
    return worst / largest;
}

template <class Element>
std::vector<Element> elements(const std::vector<float>& x) {
    std::vector<Element> out;
    for (float v : x) {
        if constexpr (std::is_same_v<Element, float>)
            out.push_back(v);
        else
            out.push_back(float_to_half(v));
    }
    return out;
}

double as_double(float x) {
    return double(x);
}
double as_double(uint16_t x) {
    return double(half_to_float(x));
}

}  // namespace

class TestAttention : public QObject {
    Q_OBJECT

 private slots:
    void packed_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<int>("group");
        QTest::addColumn<bool>("by_token");
        for (int bits : {1, 2, 4, 8})
            for (int head_dim : {32, 64, 96, 128}) {
                for (int group : {32, 64, 128})
                    if (head_dim % group == 0)
                        QTest::addRow("token bits %d dim %d group %d", bits, head_dim, group)
                            << bits << head_dim << group << true;
                for (int group : {16, 32, 64, 128})
                    QTest::addRow("channel bits %d dim %d group %d", bits, head_dim, group)
                        << bits << head_dim << group << false;
            }
        QTest::newRow("token bits 8 dim 24 group 8") << 8 << 24 << 8 << true;
        QTest::newRow("token bits 4 dim 72 group 24") << 4 << 72 << 24 << true;
        QTest::newRow("channel bits 8 dim 40 group 8") << 8 << 40 << 8 << false;
    }

    void packed() {
        QFETCH(int, bits);
        QFETCH(int, head_dim);
        QFETCH(int, group);
        QFETCH(bool, by_token);
        const int n_blocks = 41;
        for (const AffineForm& form : kForms) {
            const PackedSide side = random_side(bits, head_dim, group, n_blocks, by_token, form);
            for (int n_queries : {1, 2, 3, 4, 5, 9})
                for (const auto& [begin, end] : {std::pair{0, n_blocks}, {3, 4}, {5, 38}, {7, 7}}) {
                    check_scores(side, n_queries, begin, end);
                    check_sum(side, n_queries, begin, end);
                }
        }
    }

    void exact_data() {
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<bool>("half");
        for (int head_dim : {8, 24, 64, 128})
            for (bool half : {true, false})
                QTest::addRow("dim %d half %d", head_dim, half) << head_dim << half;
    }

    void exact() {
        QFETCH(int, head_dim);
        QFETCH(bool, half);
        half ? check_exact<uint16_t>(head_dim) : check_exact<float>(head_dim);
    }

    // A token's score does not depend on the range, nor on the other queries.
    void same_bits_in_any_range() {
        const int head_dim = 64, n_blocks = 40;
        for (int bits : {1, 2, 4, 8}) {
            const PackedSide side = random_side(bits, head_dim, 32, n_blocks, true, {1, 0});
            const std::vector<float> q = normal(3 * size_t(head_dim));
            const TokenGroups k = side.token_groups();
            const size_t stride = 8 * n_blocks;
            std::vector<float> together(3 * stride), apart(3 * stride);
            std::vector<float> prepared(prepared_query_floats(head_dim, 3));
            prepare_query(q.data(), 3, head_dim, bits, 32, prepared.data());
            scores(k, prepared.data(), 3, 0, n_blocks, together.data(), stride);
            for (int h = 0; h < 3; ++h) {
                prepare_query(&q[size_t(h * head_dim)], 1, head_dim, bits, 32, prepared.data());
                for (int b = 0; b < n_blocks; b += 5)
                    scores(k, prepared.data(), 1, b, b + 5, &apart[size_t(h) * stride + size_t(8 * b)], stride);
            }
            QCOMPARE(together, apart);
        }
    }

    // Tokens that a caller masks with p = 0 leave no trace.
    void zero_probability_is_ignored() {
        const int head_dim = 64, n_blocks = 4;
        PackedSide side = random_side(4, head_dim, 64, n_blocks, true, {-1, 0});
        std::vector<float> p = normal(8 * n_blocks), first(size_t(head_dim), 0.0f), second(size_t(head_dim), 0.0f);
        for (int t = 19; t < 8 * n_blocks; ++t)
            p[size_t(t)] = 0;
        weighted_sum(side.token_groups(), p.data(), p.size(), 1, 0, n_blocks, first.data(), size_t(head_dim));
        for (size_t b = 2; b < n_blocks; ++b)
            for (size_t j = 0; j < 8; ++j)
                for (size_t lane = b == 2 ? 3 : 0; lane < 8; ++lane)
                    side.words[(b * 8 + j) * 8 + lane] ^= 0x5a5a5a5au;
        weighted_sum(side.token_groups(), p.data(), p.size(), 1, 0, n_blocks, second.data(), size_t(head_dim));
        QCOMPARE(first, second);
    }

 private:
    static void check_scores(const PackedSide& side, int n_queries, int begin, int end) {
        const std::vector<float> q = normal(size_t(n_queries * side.head_dim));
        const size_t stride = 8 * size_t(end - begin) + 5;
        std::vector<float> out(size_t(n_queries) * stride, kUntouched);
        if (side.constants_by_token) {
            std::vector<float> prepared(prepared_query_floats(side.head_dim, n_queries));
            prepare_query(q.data(), n_queries, side.head_dim, side.bits, side.group, prepared.data());
            scores(side.token_groups(), prepared.data(), n_queries, begin, end, out.data(), stride);
        } else {
            scores(side.channel_groups(), q.data(), n_queries, begin, end, out.data(), stride);
        }
        const double worst = worst_score(q, side.values, side.head_dim, n_queries, begin, end, out, stride);
        QVERIFY2(worst < kTolerance, qPrintable(QString("scores are off by %1").arg(worst)));
        for (int h = 0; h < n_queries; ++h)
            for (size_t i = stride - 5; i < stride; ++i)
                QCOMPARE(out[size_t(h) * stride + i], kUntouched);
    }

    static void check_sum(const PackedSide& side, int n_queries, int begin, int end) {
        const size_t p_stride = 8 * size_t(end - begin), acc_stride = size_t(side.head_dim) + 3;
        const std::vector<float> p = probabilities(n_queries, int(p_stride));
        std::vector<float> acc(size_t(n_queries) * acc_stride, 0.25f);
        if (side.constants_by_token)
            weighted_sum(side.token_groups(), p.data(), p_stride, n_queries, begin, end, acc.data(), acc_stride);
        else
            weighted_sum(side.channel_groups(), p.data(), p_stride, n_queries, begin, end, acc.data(), acc_stride);
        const double worst =
            worst_sum(p, p_stride, side.values, side.head_dim, n_queries, 8 * begin, 8 * end, acc, acc_stride, 0.25);
        QVERIFY2(worst < kTolerance, qPrintable(QString("weighted sum is off by %1").arg(worst)));
        for (int h = 0; h < n_queries; ++h)
            for (size_t d = size_t(side.head_dim); d < acc_stride; ++d)
                QCOMPARE(acc[size_t(h) * acc_stride + d], 0.25f);
    }

    template <class Element>
    static void check_exact(int head_dim) {
        const int n_blocks = 19, n_tokens = 8 * n_blocks;
        const std::vector<Element> rows = elements<Element>(normal(size_t(n_tokens * head_dim)));
        std::vector<Element> blocks(rows.size());
        std::vector<double> values(rows.size());
        for (size_t t = 0; t < size_t(n_tokens); ++t)
            for (size_t d = 0; d < size_t(head_dim); ++d) {
                const Element x = rows[t * size_t(head_dim) + d];
                blocks[(t / 8 * size_t(head_dim) + d) * 8 + t % 8] = x;
                values[t * size_t(head_dim) + d] = as_double(x);
            }
        const ExactTokens<Element> k{head_dim, blocks.data()}, v{head_dim, rows.data()};
        for (int n_queries : {1, 2, 3, 4, 5, 9}) {
            const std::vector<float> q = normal(size_t(n_queries * head_dim));
            for (const auto& [begin, end] : {std::pair{0, n_blocks}, {2, 3}, {5, 18}}) {
                const size_t stride = 8 * size_t(end - begin);
                std::vector<float> out(size_t(n_queries) * stride);
                scores(k, q.data(), n_queries, begin, end, out.data(), stride);
                QVERIFY(worst_score(q, values, head_dim, n_queries, begin, end, out, stride) < kTolerance);
            }
            for (const auto& [begin, end] : {std::pair{0, n_tokens}, {2, 3}, {5, 111}}) {
                const size_t stride = size_t(end - begin);
                const std::vector<float> p = probabilities(n_queries, end - begin);
                std::vector<float> acc(size_t(n_queries * head_dim), -0.5f);
                weighted_sum(v, p.data(), stride, n_queries, begin, end, acc.data(), size_t(head_dim));
                QVERIFY(worst_sum(p, stride, values, head_dim, n_queries, begin, end, acc, size_t(head_dim), -0.5) <
                        kTolerance);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestAttention)
#include "tst_attention.moc"
