// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "ui/figures/figure_chart.h"
#include "ui/figures/figures.h"
#include "ui/plots/plot_style.h"

namespace kvasir::ui {

Figure speedByDepthFigure(const FigureData& data) {
    Figure figure{QStringLiteral("speed-by-depth"),
                  QStringLiteral("Decoding speed against tokens in the cache"),
                  QStringLiteral("one lane at two depths"),
                  {},
                  nullptr};
    std::vector<MeasuredLine> lines = data.singleLaneLines();
    const auto depth = [](const BenchMeasurement& row) { return row.depth; };
    if (!anySpans(lines, depth)) return figure;
    auto chart = std::make_unique<FigureChart>();
    chart->setAxes(QStringLiteral("tokens in the cache"), false, QStringLiteral("tokens / s"), false);
    double highest = 0, deepest = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
        MeasuredLine& line = lines[i];
        sortRows(line, depth);
        FigureLine drawn{line.index, line.condition, line.reference, line.name, Qt::SolidLine, {}};
        FigureLimit roof{{}, {}, int(i)};
        for (const BenchMeasurement& row : line.rows) {
            drawn.points << FigurePoint(row.depth, row.median, row.min, row.max);
            roof.points << QPointF(row.depth, row.roofline);
            deepest = std::max(deepest, double(row.depth));
            highest = std::max({highest, row.median, row.roofline});
        }
        chart->addLine(drawn);
        chart->addLimit(roof);
    }
    chart->setRanges({0, deepest}, {0, niceAbove(highest)});
    chart->finish();
    figure.legend << ReadoutPart::plain(QStringLiteral("median step; bars: slowest to fastest step; "
                                                       "dashed: what the measured machine allows"),
                                        true);
    figure.chart = std::move(chart);
    return figure;
}

}  // namespace kvasir::ui
