// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded keys, values and queries against the original model's (tests/golden/tensors, tests/golden/state).
#include <cmath>

#include "core/base/safetensors.h"
#include "core/session/kv_recording.h"
#include "core/session/run_fixture.h"
#include "kernels/codec/half.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

std::vector<int> lighthouse_ids(const Model& model, size_t n) {
    std::vector<int> ids = model.encode_prompt(std::string(lighthouse_text()), false);
    ids.resize(n);
    return ids;
}

std::vector<float> widened(const TensorView& view) {
    std::vector<float> out;
    if (view.type == TensorType::f32) return view.values<float>();
    for (const uint16_t half : view.values<uint16_t>())
        out.push_back(kernels::half_to_float(half));
    return out;
}

}  // namespace

class TestKvRecording : public QObject {
    Q_OBJECT
    static SafetensorsFile recorded(const std::shared_ptr<const Model>& model, size_t n, const std::vector<int>& layers,
                                    int n_threads = 2) {
        const auto r = record_kv(model, lighthouse_ids(*model, n), layers, n_threads);
        if (!r) qFatal("%s", r.error().message().c_str());
        return SafetensorsFile::parse(safetensors_bytes(r->tensors()), "recording").value();
    }

 private slots:
    /// fp32 sums in another order than torch's, then one rounding to fp16: one unit, or 1e-3 of the tensor's size where
    /// the values nearly cancel.
    void equalsTheOriginalModels() {
        KVASIR_NEEDS_MODEL(path);
        KVASIR_RELEASE_ONLY();
        const SafetensorsFile mine = recorded(load(path), 192, {0, 5, 15, 29});
        const SafetensorsFile golden = SafetensorsFile::open(golden_path("tensors/kv.safetensors")).value();
        QVERIFY(golden.tensors().size() >= 10);
        for (const auto& [name, view] : golden.tensors()) {
            const auto got = mine.tensor(name);
            QVERIFY2(got.ok(), name.c_str());
            QCOMPARE(got->shape, view.shape);
            const std::vector<float> a = widened(*got), b = widened(view);
            size_t differ = 0;
            for (size_t i = 0; i < a.size(); ++i) {
                const double unit = std::ldexp(1.0, std::max(std::ilogb(std::abs(b[i]) + 6e-5f), -14) - 10);
                differ += a[i] != b[i];
                if (!(std::abs(double(a[i]) - b[i]) <= unit + 2e-4))
                    QFAIL(qPrintable(QString::fromStdString(name) + ": " + QString::number(a[i]) + " and " +
                                     QString::number(b[i])));
            }
            QVERIFY2(differ < a.size() / 20, qPrintable(QString::fromStdString(name) + QString::number(differ)));
        }
        // Queries at tokens 50, 64, 80, 178.
        const SafetensorsFile queries = SafetensorsFile::open(golden_path("state/queries.safetensors")).value();
        const int tokens[] = {50, 64, 80, 178};
        for (const char* name : {"layer5.q", "layer29.q"}) {
            const std::vector<float> all = widened(mine.tensor(name).value());
            const TensorView view = queries.tensor(name).value();
            const std::vector<float> want = widened(view);
            for (size_t head = 0; head < size_t(view.shape[0]); ++head)
                for (size_t t = 0; t < std::size(tokens); ++t)
                    for (size_t d = 0; d < 64; ++d) {
                        const float a = all[(head * 192 + size_t(tokens[t])) * 64 + d];
                        const float b = want[(head * size_t(view.shape[1]) + t) * 64 + d];
                        QVERIFY2(std::abs(a - b) <= 1e-4f + 1e-4f * std::abs(b), name);
                    }
        }
    }
    void threadsAndOrderDoNotMatter() {
        const auto model = tiny_model();
        const SafetensorsFile a = recorded(model, 100, {0, 1}, 1), b = recorded(model, 100, {1, 0}, 3);
        QCOMPARE(a.tensors().size(), size_t(8));
        for (const auto& [name, view] : a.tensors())
            QVERIFY2(widened(view) == widened(b.tensor(name).value()), name.c_str());
        // The first tokens are the same whatever follows.
        const SafetensorsFile head = recorded(model, 20, {1});
        const auto whole = widened(a.tensor("layer1.k").value()), part = widened(head.tensor("layer1.k").value());
        for (size_t i = 0; i < part.size() / size_t(head.tensor("layer1.k")->shape[0]); ++i)
            QCOMPARE(part[i], whole[i]);
    }
    void ropeLeavesTheFirstTokenAlone() {
        const auto file = recorded(tiny_model(), 2, {0});
        const TensorView k = file.tensor("layer0.k").value();
        const auto after = widened(k), before = widened(file.tensor("layer0.k_before_rope").value());
        const size_t dim = size_t(k.shape[2]);
        QVERIFY(std::equal(after.begin(), after.begin() + long(dim), before.begin()));
        QVERIFY(!std::equal(after.begin() + long(dim), after.begin() + long(2 * dim), before.begin() + long(dim)));
    }
    void refusals() {
        const auto model = tiny_model();
        const std::vector<int> ids{1, 2, 3};
        QVERIFY(!record_kv(model, {}, {0}, 1).ok());
        QVERIFY(!record_kv(model, ids, {0, 0}, 1).ok());
        const auto beyond = record_kv(model, ids, {model->config().n_layers}, 1);
        QVERIFY(!beyond.ok());
        QVERIFY(beyond.error().message().find("there is no layer") != std::string::npos);
        QVERIFY(!record_kv(model, std::vector<int>(size_t(model->config().context_length) + 1, 1), {0}, 1).ok());
        QCOMPARE(record_kv(model, ids, {0}, 1, {}, [] { return true; }).error().code, ErrorCode::interrupted);
    }
};

QTEST_APPLESS_MAIN(TestKvRecording)
#include "tst_kv_recording.moc"
