// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include "core/session/rotation_study.h"
#include "core/session/run_fixture.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

const char* const kRotated = "k=affine2:group=16; v=affine2:group=16:rotate; residual=16; flush=whole";
const char* const kPlain = "k=affine2:group=16; v=affine2:group=16; residual=16; flush=whole";

Result<RotationStudy> study(const char* spec, DistributionRequest request) {
    Experiment e = experiment({}, 1);
    e.prefill = 64;
    return study_rotation(tiny_model(), e, parse_cache_spec(spec).value(), request);
}

}  // namespace

class TestRotationStudy : public QObject {
    Q_OBJECT
 private slots:
    /// A scheme and the same one with the rotation switched give the same two pictures.
    void bothWays() {
        const DistributionRequest request{0, 1, -1, Side::v, 32};
        const auto a = study(kRotated, request), b = study(kPlain, request);
        QVERIFY(a.ok() && b.ok());
        QVERIFY(a->scheme_rotates && !b->scheme_rotates);
        QVERIFY(a->plain && a->rotated && b->plain && b->rotated);
        QCOMPARE(a->plain->mse, b->plain->mse);
        QCOMPARE(a->rotated->mse, b->rotated->mse);
        QCOMPARE(a->rotated->after, b->rotated->after);
        QVERIFY(a->plain->mse > 0 && a->rotated->mse > 0 && a->plain->mse != a->rotated->mse);
        QVERIFY(a->rotated->rotated && !a->plain->rotated);
        QCOMPARE(a->plain->n_tokens, 64);
        QCOMPARE(a->plain->n_quantized, 64);
        QVERIFY(a->why_missing.empty());
        // The rotation keeps lengths, so the spread is the same on both sides.
        const auto power = [](const ValueStatistics& s) { return s.sigma * s.sigma + s.mean * s.mean; };
        const DistributionFrame& f = *a->rotated;
        QVERIFY(std::abs(power(f.before_stats) / power(f.after_stats) - 1) < 1e-4);
    }
    void oneHeadAndKeys() {
        const auto all = study(kPlain, {0, 0, -1, Side::k, 16}), one = study(kPlain, {0, 0, 1, Side::k, 16});
        QVERIFY(all.ok() && one.ok());
        QVERIFY(all->plain->mse != one->plain->mse);
    }
    void exactSidesHaveOnePicture() {
        const auto exact = study("fp16", {0, 0, -1, Side::k, 16});
        QVERIFY(exact.ok());
        QVERIFY(exact->plain && !exact->rotated);
        QVERIFY(exact->why_missing.find("stored exactly") != std::string::npos);
        QCOMPARE(exact->plain->n_quantized, 0);
    }
    void refusals() {
        QVERIFY(study(kPlain, {0, 2, -1, Side::k, 16}).error().message().find("no layer 2") != std::string::npos);
        QVERIFY(study(kPlain, {0, 0, 2, Side::k, 16}).error().message().find("no KV head 2") != std::string::npos);
        const auto geometry = study("hadamard:2", {0, 0, -1, Side::v, 16});  // groups of 32, heads of 16
        QVERIFY(!geometry.ok());
    }
};

QTEST_APPLESS_MAIN(TestRotationStudy)
#include "tst_rotation_study.moc"
