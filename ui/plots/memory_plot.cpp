// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/memory_plot.h"

#include "core/cache/cache_bytes.h"
#include "ui/plots/run_csv.h"

namespace kvasir::ui {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

Measure totalBytes() {
    Measure m;
    m.name = QStringLiteral("Total");
    m.axis = QStringLiteral("MiB");
    m.unit = QStringLiteral("MiB");
    m.from_zero = true;
    m.value = [](const StepRecord& r) { return double(r.bytes.total()) / kMiB; };
    m.text = [](double value) { return fixedText(value, 2); };
    m.note = QStringLiteral("thin: predicted");
    m.predicted = [](const CacheSpec& spec, const PlannedRun& run, int position) {
        return double(cache_bytes(spec, run.shape, run.n_prompt, position).total()) /
               kMiB;  // the token at n has n before it
    };
    return m;
}

PartsOfLane kindsOfBytes() {
    return {QStringLiteral("By kind"),
            QStringLiteral("MiB"),
            2,
            {QStringLiteral("codes"), QStringLiteral("scales"), QStringLiteral("zero points"),
             QStringLiteral("residual"), QStringLiteral("padding")},
            {{1.0, Qt::SolidPattern},
             {0.6, Qt::SolidPattern},
             {0.3, Qt::SolidPattern},
             {1.0, Qt::BDiagPattern},
             {1.0, Qt::Dense6Pattern}},
            false,
            [](const std::vector<StepRecord>& records) {
                const ByteLedger& b = records.back().bytes;
                PartsOfLane::Shown shown;
                for (const uint64_t bytes : {b.codes, b.scales, b.zeros, b.residual, b.padding})
                    shown.values.push_back(double(bytes) / kMiB);
                return shown;
            }};
}

}  // namespace

MemoryPlot::MemoryPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : LinesAndPartsPlot(feed, view, texts, totalBytes(), QStringLiteral("Over tokens"), kindsOfBytes(), parent) {}

QByteArray MemoryPlot::csv() const {
    RunCsv csv(run(), {"step", "position", "n_cached", "codes", "scales", "zero_points", "residual", "padding",
                       "total_bytes", "predicted_bytes"});
    if (run().empty()) return csv.bytes();
    const PlannedRun planned = planOf(run());
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        QVector<QByteArray> cells{QByteArray::number(r.step), QByteArray::number(r.position),
                                  QByteArray::number(r.n_cached)};
        for (const uint64_t bytes :
             {r.bytes.codes, r.bytes.scales, r.bytes.zeros, r.bytes.residual, r.bytes.padding, r.bytes.total()})
            cells << QByteArray::number(qulonglong(bytes));
        const CacheSpec& spec = planned.experiment.lanes[size_t(lane)].spec;
        csv.row(lane,
                cells << exactText(double(cache_bytes(spec, planned.shape, planned.n_prompt, r.n_cached).total())));
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
