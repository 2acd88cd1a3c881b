// SPDX-License-Identifier: GPL-3.0-or-later
// The whole cache, step by step, against the originals: lengths, hashes of what attention sees, attention outputs.
#include "core/cache/attention_by_cache.h"
#include "core/cache/golden_files.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

/// Names of the golden schemes in this program's words.
struct Scheme {
    const char* golden;
    const char* spec;
};

constexpr Scheme kSchemes[] = {
    {"quanto:4", "quanto:4"},
    {"quanto:2", "quanto:2"},
    {"quanto:4 residual=32", "quanto:4,residual=32"},
    {"quanto:2 axis=-1 residual=64", "quanto:2,axis_key=-1,axis_value=-1,residual=64"},
    {"hqq:8", "hqq:8"},
    {"hqq:4", "hqq:4"},
    {"hqq:2", "hqq:2"},
    {"kivi:2", "kivi:2"},
    {"kivi:4", "kivi:4"},
    {"kivi:2 residual=128", "kivi:2,residual=128"},
    {"hadamard:2", "hadamard:2"},
    {"hadamard:2 v_res=0", "hadamard:2,v_residual=0"},
};

/// Schemes with recorded attention outputs, but no recorded states.
constexpr Scheme kStateless[] = {
    {"fp16", "fp16"},
    {"ternary", "ternary"},
    {"hadamard-ternary", "hadamard-ternary"},
    {"ggml:q8_0", "ggml:q8_0,rotate=off"},
    {"ggml:q4_0", "ggml:q4_0,rotate=off"},
    {"ggml:q4_1", "ggml:q4_1,rotate=off"},
    {"ggml:q5_0", "ggml:q5_0,rotate=off"},
    {"ggml:q5_1", "ggml:q5_1,rotate=off"},
    {"ggml:q8_0 rotate", "ggml:q8_0"},
    {"ggml:q4_0 rotate", "ggml:q4_0"},
    {"fp8", "fp8"},
    {"tq:4", "tq:4"},
    {"tq:3", "tq:3"},
};

constexpr int kProbes[] = {50, 64, 80, 178, 200, 399};  // tokens with a recorded attention output

}  // namespace

class StateGoldens : public QObject {
    Q_OBJECT

    nlohmann::json state_ = golden_json("state/state.json");
    SafetensorsFile kv_ = golden_tensors("state/kv400.safetensors");
    SafetensorsFile attention_ = golden_tensors("state/attention.safetensors");
    SafetensorsFile queries_ = golden_tensors("state/queries.safetensors");

    static void rows(bool only_tabled) {
        QTest::addColumn<QString>("golden");
        QTest::addColumn<QString>("spec");
        for (const Scheme& s : kStateless)
            if (!only_tabled) QTest::newRow(s.golden) << s.golden << s.spec;
        for (const Scheme& s : kSchemes)
            QTest::newRow(s.golden) << s.golden << s.spec;
    }

    Recording recording(const HalfTensor& k, const HalfTensor& v) const {
        return {k.n_kv_heads, k.n_tokens, k.head_dim, k.x.data(), v.x.data()};
    }

 private slots:
    void steps_data() { rows(true); }

    void steps() {
        QFETCH(QString, golden);
        QFETCH(QString, spec);
        const nlohmann::json& scheme = state_["schemes"][golden.toStdString()];
        const int t0 = scheme["t0"];
        for (const char* layer : {"5", "29"}) {
            const HalfTensor k = half_tensor(kv_, std::string("layer") + layer + ".k");
            const HalfTensor v = half_tensor(kv_, std::string("layer") + layer + ".v");
            const auto cache = make_cache(spec.toStdString(), {1, k.n_kv_heads, k.head_dim, k.n_tokens});
            const auto after_prompt = scheme["layers"][layer]["prefill_after"];
            const auto check_prompt = [&](int step) {
                if (step > 1) return;
                QCOMPARE(cache->n_quantized(0, Side::k), int(after_prompt[0]));
                QCOMPARE(cache->n_quantized(0, Side::v), int(after_prompt[2]));
            };
            auto steps = replay(*cache, recording(k, v), t0, check_prompt);
            QVERIFY2(steps.ok(), steps.ok() ? "" : steps.error().message().c_str());
            const nlohmann::json& want = scheme["layers"][layer]["steps"];
            QCOMPARE(steps->size(), want.size());
            for (size_t i = 0; i < want.size(); ++i) {
                const ReplayStep& s = (*steps)[i];
                const int got[] = {s.k_quantized_seen, s.v_quantized_seen,  s.k_quantized_after,
                                   s.k_residual_after, s.v_quantized_after, s.v_residual_after};
                for (int c = 0; c < 6; ++c)
                    QVERIFY2(got[c] == int(want[i][size_t(c)]),
                             qPrintable(QString("step %1, column %2: %3").arg(s.step).arg(c).arg(got[c])));
                QVERIFY2(s.sha256_k == want[i][6], qPrintable(QString("keys of step %1").arg(s.step)));
                QVERIFY2(s.sha256_v == want[i][7], qPrintable(QString("values of step %1").arg(s.step)));
            }
        }
    }

    void attention_outputs_data() { rows(false); }

    /// The reference path is within 1e-5 of the originals. The fused kernels leave out the fp16 roundings of
    /// dequantization: they are held against the same affine map in double precision, as tightly; what those roundings
    /// do to the output is limited to 2e-3 of the largest output.
    void attention_outputs() {
        QFETCH(QString, golden);
        QFETCH(QString, spec);
        const bool stateless = !state_["schemes"].contains(golden.toStdString());
        const int t0 = stateless ? 50 : int(state_["schemes"][golden.toStdString()]["t0"]);
        for (const char* layer : {"layer5", "layer29"}) {
            const HalfTensor k = half_tensor(kv_, std::string(layer) + ".k"),
                             v = half_tensor(kv_, std::string(layer) + ".v");
            const std::vector<float> queries = queries_.tensor(std::string(layer) + ".q").value().values<float>();
            for (const KernelPath path : {KernelPath::reference, KernelPath::fused}) {
                const auto cache = make_cache(spec.toStdString(), {1, k.n_kv_heads, k.head_dim, k.n_tokens}, path);
                double worst = 0, largest = 0, from_map = 0;
                int compared = 0;
                const auto probe = [&](int step) {
                    const auto at = std::find(std::begin(kProbes), std::end(kProbes), t0 + step - 1);
                    if (at == std::end(kProbes)) return;
                    const size_t index = size_t(at - kProbes);
                    std::vector<float> q;
                    for (size_t h = 0; h < 9; ++h) {
                        const auto from = queries.begin() + long((h * 6 + index) * 64);
                        q.insert(q.end(), from, from + 64);
                    }
                    const std::vector<float> got = attention(*cache, q, 9);
                    const std::string name = golden.toStdString() + "/" + layer + "/token" + std::to_string(*at);
                    const std::vector<float> want = attention_.tensor(name).value().values<float>();
                    for (size_t i = 0; i < want.size(); ++i) {
                        worst = std::max(worst, double(std::abs(got[i] - want[i])));
                        largest = std::max(largest, double(std::abs(want[i])));
                    }
                    const std::vector<double> map = affine_attention(*cache, q, 9);
                    for (size_t i = 0; i < map.size(); ++i)
                        from_map = std::max(from_map, std::abs(got[i] - map[i]));
                    ++compared;
                };
                const auto steps = replay(*cache, recording(k, v), t0, probe, false);
                QVERIFY(steps.ok());
                QVERIFY(compared >= 5);
                if (path == KernelPath::reference) {
                    qInfo("%s %s reference: %.1e", qPrintable(golden), layer, worst);
                    QVERIFY(worst <= 1e-5);
                } else {
                    qInfo("%s %s fused: %.1e, from the affine map %.1e, largest output %.2f", qPrintable(golden), layer,
                          worst, from_map, largest);
                    // Groups that straddle tokens have no fused kernel and go through the dequantized values.
                    QVERIFY(std::min(from_map, worst) <= 1e-5 * std::max(1.0, largest));
                    QVERIFY(worst <= 2e-3 * largest);
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(StateGoldens)
#include "tst_state_goldens.moc"
