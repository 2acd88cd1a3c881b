// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <set>

#include "ui/figures/figure_chart.h"
#include "ui/figures/figures.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

Figure latencyByLanesFigure(const FigureData& data) {
    constexpr double kMillisecond = 1e3;
    Figure figure{QStringLiteral("latency-by-lanes"),
                  QStringLiteral("Latency of a step against batch size"),
                  QStringLiteral("one spec with two numbers of lanes"),
                  {},
                  nullptr};
    const auto lanes = [](const BenchMeasurement& row) { return double(row.lanes); };
    std::vector<MeasuredLine> lines = data.lines(true);
    // a spec that was measured with one number of lanes only says nothing here
    lines.erase(
        std::remove_if(lines.begin(), lines.end(), [&](const MeasuredLine& line) { return !spans(line, lanes); }),
        lines.end());
    if (lines.empty()) return figure;
    auto chart = std::make_unique<FigureChart>();
    chart->setAxes(QStringLiteral("batch size: lanes in lock-step"), true, QStringLiteral("ms per step"), false);
    std::set<double> batches;
    std::set<int> depths;
    for (const MeasuredLine& line : lines)
        depths.insert(line.depth);
    double slowest = 0;
    for (MeasuredLine& line : lines) {
        sortRows(line, lanes);
        const auto place = std::distance(depths.begin(), depths.find(line.depth));
        FigureLine drawn{line.index, line.condition, line.reference, line.name, Qt::PenStyle(1 + place % 5), {}};
        if (depths.size() > 1) drawn.name += QStringLiteral(" at %1").arg(countText(line.depth));
        for (const BenchMeasurement& row : line.rows) {
            batches.insert(row.lanes);
            drawn.points << FigurePoint(lanes(row), kMillisecond / row.median, kMillisecond / row.max,
                                        kMillisecond / row.min);
            slowest = std::max(slowest, kMillisecond / row.median);
        }
        chart->addLine(drawn);
    }
    chart->setRanges({*batches.begin() / 1.15, *batches.rbegin() * 1.15}, {0, niceAbove(slowest * 1.1)});
    chart->setXTicks({batches.begin(), batches.end()});
    chart->finish();
    figure.legend << ReadoutPart::plain(QStringLiteral("median step; bars: fastest to slowest step"), true);
    if (depths.size() > 1)
        figure.legend << ReadoutPart::plain(QStringLiteral("“at n”: n tokens in each cache before"), true);
    else
        figure.legend << ReadoutPart::plain(
            QStringLiteral("%1 tokens in each cache before").arg(countText(*depths.begin())), true);
    figure.chart = std::move(chart);
    return figure;
}

}  // namespace kvasir::ui
