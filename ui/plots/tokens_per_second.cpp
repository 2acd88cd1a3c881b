// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/tokens_per_second.h"

#include <cmath>

#include "ui/plots/run_csv.h"
#include "ui/plots/time_parts.h"

namespace kvasir::ui {

namespace {

/// Tokens per second of one step; NaN for step 0, whose prediction came from the prompt pass and has no time of its
/// own.
double rate(const StepRecord& r) {
    const double ns = r.time.total();
    return ns > 0 ? 1e9 / ns : std::numeric_limits<double>::quiet_NaN();
}

Measure ratePerLane() {
    Measure m;
    m.name = QStringLiteral("Rate");
    m.axis = QStringLiteral("tokens / s");
    m.unit = QStringLiteral("tokens / s");
    m.note = QStringLiteral("thin: token, thick: last %1").arg(RunningMean::kWindow);
    m.smoothing = RunningMean::Kind::harmonic;
    m.raw = true;
    m.from_zero = true;
    m.value = rate;
    m.text = [](double value) { return fixedText(value, 1); };
    return m;
}

PartsOfLane timeSplit() {
    return {QStringLiteral("Time split"),
            QStringLiteral("ms per token"),
            2,
            timePartNames(),
            timePartStyles(),
            [](const StepRecord& r) {
                std::vector<double> parts = timeParts(r.time);
                for (double& part : parts)
                    part /= 1e6;
                return parts;
            }};
}

}  // namespace

TokensPerSecond::TokensPerSecond(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : LinesAndPartsPlot(feed, view, texts, ratePerLane(), QStringLiteral("Over tokens"), timeSplit(), parent) {}

QString TokensPerSecond::makeProvenance() const {
    return tr("decode, each lane's own time; shared work divided equally") + QStringLiteral(" · ") +
           LinesAndPartsPlot::makeProvenance();
}

QByteArray TokensPerSecond::csv() const {
    RunCsv csv(run(), {"step", "position", "n_cached", "tokens_per_second", "total_ns", "matmul_ns", "quantize_ns",
                       "scores_ns", "softmax_ns", "weighted_sum_ns", "rotate_ns", "other_ns", "step_ns"});
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        QVector<QByteArray> cells{QByteArray::number(r.step), QByteArray::number(r.position),
                                  QByteArray::number(r.n_cached),
                                  r.time.total() > 0 ? exactText(rate(r)) : QByteArray(), exactText(r.time.total())};
        for (const double ns : timeParts(r.time))
            cells << exactText(ns);
        csv.row(lane, cells << exactText(r.step_ns));
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
