// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>

#include "ui/figures/figure_chart.h"
#include "ui/figures/figures.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

Figure memoryByTokensFigure(const FigureData& data) {
    constexpr double kMiB = 1024.0 * 1024.0;
    Figure figure{QStringLiteral("memory-by-tokens"),
                  QStringLiteral("Weights and cache against tokens in the cache"),
                  QStringLiteral("one lane at two depths"),
                  {},
                  nullptr};
    const auto tokens = [](const BenchMeasurement& row) { return row.n_cached; };
    std::vector<MeasuredLine> lines = data.singleLaneLines();
    const auto depth = [](const BenchMeasurement& row) { return row.depth; };
    if (!anySpans(lines, depth)) return figure;
    auto chart = std::make_unique<FigureChart>();
    chart->setAxes(QStringLiteral("tokens in the cache"), false, QStringLiteral("MiB"), false);
    double highest = 0, deepest = 0;
    std::map<double, QString> weights;  // by size: conditions with equal weights share one base
    for (MeasuredLine& line : lines) {
        sortRows(line, tokens);
        FigureLine drawn{line.index, line.condition, line.reference, line.name, Qt::SolidLine, {}};
        for (const BenchMeasurement& row : line.rows) {
            drawn.points << FigurePoint(tokens(row), row.bytes() / kMiB);
            deepest = std::max(deepest, tokens(row));
            highest = std::max(highest, row.bytes() / kMiB);
            weights[row.weight_bytes / kMiB] = data.weightsText(line.condition);
        }
        chart->addLine(drawn);
    }
    for (const auto& [mib, type] : weights)
        chart->addBase({mib, QStringLiteral("weights, %1: %2 MiB").arg(type, fixedText(mib, 2))});
    chart->setRanges({0, deepest}, {0, niceAbove(highest * 1.05)});
    chart->finish();
    figure.chart = std::move(chart);
    return figure;
}

}  // namespace kvasir::ui
