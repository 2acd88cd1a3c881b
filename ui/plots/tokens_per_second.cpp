// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/tokens_per_second.h"

#include <cmath>
#include <numeric>

#include "ui/plots/run_csv.h"
#include "ui/plots/time_parts.h"

namespace kvasir::ui {

namespace {

/// Tokens per second of one step; NaN where it was not timed.
double rate(const StepRecord& r) {
    return isTimed(r) ? 1e9 / r.time.total() : std::numeric_limits<double>::quiet_NaN();
}

Measure ratePerLane() {
    Measure m;
    m.name = QStringLiteral("Rate");
    m.axis = QStringLiteral("tokens / s");
    m.unit = QStringLiteral("tokens / s");
    m.note = QStringLiteral("thin: token, thick: mean of %1").arg(RunningMean::kWindow);
    m.smoothing = RunningMean::Kind::harmonic;
    m.raw = true;
    m.newest_is_mean = true;
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
            true,
            [](const std::vector<StepRecord>& records) {
                MeanTime mean = meanTime(records, records.size() - 1);
                for (double& part : mean.parts)
                    part /= 1e6;
                return PartsOfLane::Shown{mean.parts, mean.n};
            }};
}

}  // namespace

TokensPerSecond::TokensPerSecond(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : LinesAndPartsPlot(feed, view, texts, ratePerLane(), QStringLiteral("Over tokens"), timeSplit(), parent) {}

QString TokensPerSecond::makeProvenance() const {
    return tr("decode, each lane's own time; shared work divided equally") + QStringLiteral(" · ") +
           LinesAndPartsPlot::makeProvenance();
}

/// What was not timed is empty: a zero would be taken into a mean. The means are what the thick lines and the bars
/// show.
QByteArray TokensPerSecond::csv() const {
    const QVector<QByteArray> parts{"matmul_ns",       "quantize_ns", "scores_ns", "softmax_ns",
                                    "weighted_sum_ns", "rotate_ns",   "other_ns"};
    QVector<QByteArray> columns{"step", "position", "n_cached", "tokens_per_second", "total_ns"};
    columns << parts << "step_ns"
            << "mean_of"
            << "mean_tokens_per_second"
            << "mean_total_ns";
    for (const QByteArray& part : parts)
        columns << "mean_" + part;
    RunCsv csv(run(), columns);
    const int n_parts = int(parts.size());
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        QVector<QByteArray> cells{QByteArray::number(r.step), QByteArray::number(r.position),
                                  QByteArray::number(r.n_cached)};
        const auto addParts = [&](const std::vector<double>& values) {
            for (const double ns : values)
                cells << exactText(ns);
        };
        if (isTimed(r)) {
            cells << exactText(rate(r)) << exactText(r.time.total());
            addParts(timeParts(r.time));
        } else {
            cells.resize(cells.size() + 2 + n_parts);
        }
        cells << (r.step_ns > 0 ? exactText(r.step_ns) : QByteArray());
        const std::vector<StepRecord>& records = run().lane(lane);
        if (const MeanTime mean = meanTime(records, size_t(&r - records.data())); mean.n > 0) {
            const double total = std::accumulate(mean.parts.begin(), mean.parts.end(), 0.0);
            cells << QByteArray::number(mean.n) << exactText(1e9 / total) << exactText(total);
            addParts(mean.parts);
        } else {
            cells.resize(cells.size() + 3 + n_parts);
        }
        csv.row(lane, cells);
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
