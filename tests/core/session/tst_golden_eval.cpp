// SPDX-License-Identifier: GPL-3.0-or-later
// Teacher-forced evaluation of every scheme against the recorded one (tests/golden/README.md, Tolerances).
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/session/run_fixture.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

struct Scheme {
    const char* golden;
    const char* spec;
    double nll = 0, kl = 0, median = 0;  ///< allowances; 0: the README's rule for schemes without a row
};

const std::vector<Scheme> kSchemes{
    {"quanto:4", "quanto:4", 5e-3, 0.1, 2.0e-2},
    {"quanto:2", "quanto:2", 0.09, 0.1, 0.53},
    {"quanto:4 residual=32", "quanto:4,residual=32"},
    {"hqq:8", "hqq:8", 1e-3, 0.1, 3.6e-3},
    {"hqq:4", "hqq:4", 0.012, 0.3, 2.3e-2},
    {"hqq:2", "hqq:2", 0.09, 0.1, 0.58},
    {"hqq:4 axis=0", "hqq:4,axis_key=0,axis_value=0"},
    {"kivi:4", "kivi:4", 5e-3, 0.1, 3.5e-2},
    {"kivi:2", "kivi:2", 0.05, 0.1, 0.27},
    {"kivi:2 residual=128", "kivi:2,residual=128"},
    {"hadamard:2", "hadamard:2", 7e-3, 0.1, 4.1e-2},
    {"hadamard:2 v_res=0", "hadamard:2,v_residual=0"},
    {"ternary", "ternary", 8e-3, 0.1, 5.9e-2},
    {"hadamard-ternary", "hadamard-ternary"},
    {"ggml:q8_0", "ggml:q8_0,rotate=off", 3.5e-3, 0.3, 2.3e-2},
    {"ggml:q4_0", "ggml:q4_0,rotate=off", 0.05, 0.2, 0.42},
    {"ggml:q4_1", "ggml:q4_1,rotate=off"},
    {"ggml:q5_0", "ggml:q5_0,rotate=off"},
    {"ggml:q5_1", "ggml:q5_1,rotate=off"},
    {"ggml:q8_0 rotate", "ggml:q8_0"},
    {"ggml:q4_0 rotate", "ggml:q4_0", 0.04, 0.3, 0.25},
    {"fp8", "fp8", 0.012, 0.1, 7.8e-2},
    {"tq:4", "tq:4", 0.035, 0.1, 0.3},
    {"tq:3", "tq:3"},
};

bool reads_its_prompt_quantized(const CacheSpec& spec) {
    return spec.flush_k == FlushRule::write;
}

std::string file_text(const std::string& path, size_t most) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str().substr(0, most);
}

/// Some lanes of one text beside fp32 and fp16, checked against their goldens.
void evaluate(const nlohmann::json& golden, const std::string& text, const std::vector<Scheme>& schemes,
              const std::shared_ptr<const Model>& model) {
    std::vector<std::string> specs{"fp32", "fp16"};
    for (const Scheme& s : schemes)
        specs.push_back(s.spec);
    const int n = golden["scores"];
    Experiment e = experiment(specs, n);
    e.prompt = text;
    e.prefill = golden["prefill"];
    e.reference = 1;
    e.layer_errors = false;
    e.noise_floor = true;
    const RunModel run = carry_out(model, e);
    QVERIFY(run.noise_floor().kl_mean <= 1e-6);
    const auto recorded = [&](const char* scheme) {
        return golden["per_token"][scheme]["nll"].get<std::vector<double>>();
    };
    const auto fp32 = recorded("fp32");
    QCOMPARE(run.lane(0).size(), fp32.size());
    for (size_t i = 0; i < fp32.size(); ++i)
        QVERIFY(std::abs(run.lane(0)[i].nll - fp32[i]) <= 3e-4);
    QVERIFY(std::abs(run.summary(1).nll_mean - golden["summary"]["fp16"]["mean_nll"].get<double>()) <= 1e-4);

    for (size_t i = 0; i < schemes.size(); ++i) {
        const Scheme& scheme = schemes[i];
        const int lane = int(i) + 2;
        const LaneSummary s = run.summary(lane);
        const auto& want = golden["summary"][scheme.golden];
        const bool early = reads_its_prompt_quantized(parse_cache_spec(scheme.spec).value());
        QCOMPARE(s.n_scored, n);
        const double nll = std::abs(s.nll_mean - want["mean_nll"].get<double>());
        const double nll_allowed =
            scheme.nll > 0 ? scheme.nll : (early ? 3.5 : 1.5) * want["delta_nll_stderr"].get<double>();
        const double ratio = s.kl_mean / want["mean_kl"].get<double>();
        qInfo("%s: mean nll off by %.2g (allowed %.2g), mean KL ratio %.3f", scheme.golden, nll, nll_allowed, ratio);
        QVERIFY2(nll <= nll_allowed, scheme.golden);
        // The error of hqq:8 is so small that one draw is not enough: the next test takes several.
        QVERIFY2(scheme.golden == std::string("hqq:8") || std::abs(ratio - 1) <= (scheme.kl > 0 ? scheme.kl : 0.3),
                 scheme.golden);
        const auto tokens = recorded(scheme.golden);
        std::vector<double> difference;
        for (size_t t = 0; t < tokens.size(); ++t)
            difference.push_back(std::abs(run.lane(lane)[t].nll - tokens[t]));
        if (!early) QVERIFY(difference[0] <= 5e-3);  // score 0 comes from the prompt: exact attention
        const auto middle = difference.begin() + long(difference.size() / 2);
        std::nth_element(difference.begin(), middle, difference.end());
        if (scheme.median > 0) QVERIFY2(*middle <= scheme.median, scheme.golden);
    }
}

}  // namespace

class TestGoldenEval : public QObject {
    Q_OBJECT
 private slots:
    void lighthouse_data() {
        QTest::addColumn<int>("first");
        for (size_t first = 0; first < kSchemes.size(); first += 6)
            QTest::newRow(kSchemes[first].golden) << int(first);
    }
    void lighthouse() {
        KVASIR_RELEASE_ONLY();
        KVASIR_NEEDS_MODEL(path);
        QFETCH(int, first);
        const auto from = kSchemes.begin() + first;
        evaluate(golden_json("eval/lighthouse.json"), std::string(lighthouse_text()),
                 {from, std::min(from + 6, kSchemes.end())}, load(path));
    }
    void wiki() {
        KVASIR_RELEASE_ONLY();
        KVASIR_NEEDS_MODEL(path);
        const std::string file = source_path("../shared/data/wiki.test.raw");
        if (!std::ifstream(file)) QSKIP("shared/data/wiki.test.raw is not beside this checkout");
        std::vector<Scheme> schemes;
        const auto golden = golden_json("eval/wiki.json");
        for (const Scheme& s : kSchemes)
            if (golden["summary"].contains(s.golden)) schemes.push_back(s);
        evaluate(golden, file_text(file, 40000), schemes, load(path));
    }
    /// One draw of the rounding errors moves the mean KL of 8-bit codes by 6 %: the draws of the fused kernels
    /// together, and the one of dequantized values, must meet the golden.
    void divergenceOfHqq8() {
        KVASIR_RELEASE_ONLY();
        KVASIR_NEEDS_MODEL(path);
        const auto model = load(path);
        const double want = golden_json("eval/lighthouse.json")["summary"]["hqq:8"]["mean_kl"];
        Experiment e = experiment({"fp16", "hqq:8"}, 512);
        e.prompt = std::string(lighthouse_text());
        e.prefill = 128;
        e.layer_errors = false;
        constexpr int kDraws = 4;
        double sum = 0;
        for (e.sum_order = 0; e.sum_order < kDraws; ++e.sum_order)
            sum += carry_out(model, e).summary(1).kl_mean;
        const double fused = sum / kDraws / want;
        QVERIFY2(std::abs(fused - 1) <= 0.1, qPrintable(QString("fused: mean KL ratio %1").arg(fused)));
        e.sum_order = 0;
        e.kernels = KernelPath::reference;
        const double dequantized = carry_out(model, e).summary(1).kl_mean / want;
        QVERIFY2(std::abs(dequantized - 1) <= 0.1, qPrintable(QString("reference: mean KL ratio %1").arg(dequantized)));
    }
};

QTEST_APPLESS_MAIN(TestGoldenEval)
#include "tst_golden_eval.moc"
