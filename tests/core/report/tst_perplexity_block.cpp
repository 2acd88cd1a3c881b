// SPDX-License-Identifier: GPL-3.0-or-later
// The block's figures against hand-computed ones, its lines against those of llama-perplexity.
#include <QtTest>
#include <cmath>
#include <sstream>

#include "core/report/perplexity_block.h"

using namespace kvasir;

namespace {

bool near(double a, double b, double tolerance = 1e-6) {
    return std::abs(a - b) < tolerance;
}

/// Two tokens: nll 2 and 4 under Q, 1 and 2 under the reference; Δp -1/4 and +1/2; KL 0.5 and 1.
RunModel two_tokens() {
    auto info = std::make_shared<RunInfo>();
    for (const char* spec : {"fp16", "kivi:2"}) {
        info->experiment.lanes.push_back({parse_cache_spec(spec).value(), true});
        info->lanes.emplace_back();
        info->lanes.back().requested = spec;
    }
    info->prompt_ids = {1, 2, 3};
    RunModel run;
    run.begin(info, 1, 1, 64);
    StepRecord base0, base1, q0, q1;
    base0.nll = 1, base1.nll = 2, base1.step = 1;
    q0.lane = q1.lane = 1, q1.step = 1;
    q0.nll = 2, q0.delta_logprob = -1, q0.kl = 0.5f, q0.reference_probability = 0.5f, q0.probability = 0.25f;
    q1.nll = 4, q1.delta_logprob = -2, q1.kl = 1, q1.reference_probability = 0.125f, q1.probability = 0.625f;
    q1.top1_agrees = false;
    run.append({base0, base1, q0, q1});
    return run;
}

}  // namespace

class TestPerplexityBlock : public QObject {
    Q_OBJECT
 private slots:
    void figures() {
        const PerplexityStatistics s = perplexity_statistics(two_tokens(), 1);
        QCOMPARE(s.n, 2);
        // Standard errors with n - 1: of {2, 4} it is 1, of {1, 2} it is 1/2, of their difference {1, 2} again 1/2.
        const double e3 = std::exp(3.0), e15 = std::exp(1.5);
        QVERIFY(near(s.ppl.value, e3) && near(s.ppl.uncertainty, e3));
        QVERIFY(near(s.ppl_base.value, e15) && near(s.ppl_base.uncertainty, e15 / 2));
        QVERIFY(near(s.correlation, 1));
        QVERIFY(near(s.ln_ratio.value, 1.5) && near(s.ln_ratio.uncertainty, 0.5));
        QVERIFY(near(s.ratio.value, e15) && near(s.ratio.uncertainty, e15 / 2));
        // var = e^6 * 1 + e^3 / 4 - 2 e^3 e^1.5 * 0.5 = (e^3 - e^1.5 / 2)^2
        QVERIFY(near(s.difference.value, e3 - e15) && near(s.difference.uncertainty, e3 - e15 / 2));
        QVERIFY(near(s.kld.value, 0.75) && near(s.kld.uncertainty, 0.25));
        QVERIFY(near(s.dp.value, 0.125) && near(s.dp.uncertainty, 0.375));
        // Squares 1/16 and 1/4: mean 5/32, standard error 3/32.
        const double rms = std::sqrt(5.0 / 32);
        QVERIFY(near(s.rms_dp.value, rms) && near(s.rms_dp.uncertainty, 0.5 / rms * 3 / 32));
        QVERIFY(near(s.same_top.value, 0.5) && near(s.same_top.uncertainty, 0.5));
    }
    void linesOfLlamaPerplexity() {
        const std::vector<std::string> want{
            "Kvasir scores every token after the prompt of 3 tokens and keeps logits in full precision "
            "(llama-perplexity "
            "scores the second half of each window and stores the base logits in 16 bits).",
            "",
            "Q = kivi:2, base = fp16, 2 tokens scored",
            "",
            "====== Perplexity statistics ======",
            "Mean PPL(Q)                   :  20.085537 ±  20.085537",
            "Mean PPL(base)                :   4.481689 ±   2.240845",
            "Cor(ln(PPL(Q)), ln(PPL(base))): 100.00%",
            "Mean ln(PPL(Q)/PPL(base))     :   1.500000 ±   0.500000",
            "Mean PPL(Q)/PPL(base)         :   4.481689 ±   2.240845",
            "Mean PPL(Q)-PPL(base)         :  15.603848 ±  17.844692",
            "",
            "====== KL divergence statistics ======",
            "Mean    KLD:   0.750000 ±   0.250000",
            "Maximum KLD:   1.000000",
            "99.9%   KLD:   0.999500",
            "99.0%   KLD:   0.995000",
            "95.0%   KLD:   0.975000",
            "90.0%   KLD:   0.950000",
            "Median  KLD:   0.750000",
            "10.0%   KLD:   0.550000",
            " 5.0%   KLD:   0.525000",
            " 1.0%   KLD:   0.505000",
            " 0.1%   KLD:   0.500500",
            "Minimum KLD:   0.500000",
            "",
            "====== Token probability statistics ======",
            "Mean    Δp: 12.500 ± 37.500 %",
            "Maximum Δp: 50.000%",
            "99.9%   Δp: 49.925%",
            "99.0%   Δp: 49.250%",
            "95.0%   Δp: 46.250%",
            "90.0%   Δp: 42.500%",
            "75.0%   Δp: 31.250%",
            "Median  Δp: 12.500%",
            "25.0%   Δp: -6.250%",
            "10.0%   Δp: -17.500%",
            " 5.0%   Δp: -21.250%",
            " 1.0%   Δp: -24.250%",
            " 0.1%   Δp: -24.925%",
            "Minimum Δp: -25.000%",
            "RMS Δp    : 39.528 ± 11.859 %",
            "Same top p: 50.000 ± 50.000 %",
        };
        std::istringstream lines(perplexity_blocks(two_tokens()));
        size_t i = 0;
        for (std::string line; std::getline(lines, line); ++i) {
            QVERIFY(i < want.size());
            QCOMPARE(QString::fromStdString(line), QString::fromStdString(want[i]));
        }
        QCOMPARE(i, want.size());
    }
    void aLaneThatDoesNotRunSaysWhy() {
        auto info = std::make_shared<RunInfo>(two_tokens().info());
        info->lanes[1].failed = true;
        info->lanes[1].why = "head_dim 16 is too small";
        RunModel run;
        run.begin(info, 1, 1, 16);
        QVERIFY(perplexity_blocks(run).find("kivi:2 does not run: head_dim 16") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestPerplexityBlock)
#include "tst_perplexity_block.moc"
