// SPDX-License-Identifier: GPL-3.0-or-later
// Roofline (Williams, Waterman, Patterson 2009): a step of `F` FLOP that reads `B` bytes cannot be faster than memory
// brings B or the cores do F, so GFLOP/s <= min(bandwidth * F / B, multiply-add rate).
#include <algorithm>

#include "ui/figures/figure_chart.h"
#include "ui/figures/figures.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {

/// Markers grow with the depth, by equal steps: 6 to 12 px.
double markerSize(const std::vector<int>& depths, int depth) {
    const auto place = std::find(depths.begin(), depths.end(), depth) - depths.begin();
    return depths.size() < 2 ? 8 : 6 + 6 * double(place) / double(depths.size() - 1);
}

void addRoofs(FigureChart& chart, const MachineLimit& limit, QCPRange x) {
    const QString where = limit.condition.isEmpty() ? QString() : QStringLiteral(", ") + limit.condition;
    const double ridge = limit.fma_gflops / limit.bandwidth_gbps;
    const double end = std::max(ridge, x.upper);
    chart.addLimit({{{x.lower, x.lower * limit.bandwidth_gbps}, {ridge, limit.fma_gflops}},
                    QStringLiteral("memory %1 GB/s").arg(fixedText(limit.bandwidth_gbps, 1)) + where,
                    FigureLimit::kNoLine});
    chart.addLimit({{{ridge, limit.fma_gflops}, {end, limit.fma_gflops}},
                    QStringLiteral("fp32 multiply-add %1 GFLOP/s").arg(fixedText(limit.fma_gflops, 1)) + where,
                    FigureLimit::kNoLine});
}

}  // namespace

Figure rooflineFigure(const FigureData& data) {
    Figure figure{QStringLiteral("roofline"),
                  QStringLiteral("Roofline: speed against arithmetic intensity"),
                  QStringLiteral("any row"),
                  {},
                  nullptr};
    const std::vector<int> depths = data.depths();
    std::vector<MeasuredLine> lines = data.lines(true);
    auto chart = std::make_unique<FigureChart>();
    chart->setAxes(QStringLiteral("arithmetic intensity, FLOP per byte read"), true, QStringLiteral("GFLOP/s"), true);

    double x_low = 1e300, x_high = 0, y_low = 1e300, y_high = 0;
    bool several_lanes = false;
    QStringList named;
    for (MeasuredLine& line : lines) {
        sortRows(line, [](const BenchMeasurement& row) { return row.lanes; });
        FigureLine drawn{line.index, line.condition, line.reference, {}, Qt::SolidLine, {}};
        if (!named.contains(line.name)) drawn.name = line.name, named << line.name;
        for (const BenchMeasurement& row : line.rows) {
            FigurePoint point(row.intensity(), row.gflops());
            point.size = markerSize(depths, row.depth);
            if (row.lanes > 1) point.words = QStringLiteral("×%1").arg(row.lanes), several_lanes = true;
            x_low = std::min(x_low, point.x), x_high = std::max(x_high, point.x);
            y_low = std::min(y_low, point.y), y_high = std::max(y_high, point.y);
            drawn.points << point;
        }
        chart->addLine(drawn);
    }
    for (const MachineLimit& limit : data.limits()) {
        x_high = std::max(x_high, limit.fma_gflops / limit.bandwidth_gbps);
        y_high = std::max(y_high, limit.fma_gflops);
    }
    const QCPRange x(oneTwoFive(x_low / 2, false), oneTwoFive(x_high * 1.5, true));
    const QCPRange y(oneTwoFive(y_low / 1.3, false), y_high * 1.6);
    for (const MachineLimit& limit : data.limits())
        addRoofs(*chart, limit, x);
    chart->setRanges(x, y);
    chart->finish();

    QStringList sizes;
    for (const int depth : depths)
        sizes << countText(depth);
    if (depths.size() > 1)
        figure.legend << ReadoutPart::plain(
            QStringLiteral("marker, small to large: %1 tokens in the cache").arg(sizes.join(QStringLiteral(", "))),
            true);
    if (several_lanes) figure.legend << ReadoutPart::plain(QStringLiteral("×n: n lanes in lock-step"), true);
    figure.chart = std::move(chart);
    return figure;
}

}  // namespace kvasir::ui
