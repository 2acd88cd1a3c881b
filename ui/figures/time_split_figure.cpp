// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "ui/figures/figures.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/plot_text.h"
#include "ui/plots/time_parts.h"

namespace kvasir::ui {

namespace {

/// As high as its rows need, with room for long specs.
class TimeSplitChart : public BarsChart {
 public:
    QSize exportSize() const override { return {643, 56 + 24 * int(rows().size())}; }
    void applyTheme(const Theme& theme) override {
        BarsChart::applyTheme(theme);
        const QFontMetricsF name(theme.font(9)), heading(theme.font(9, true));
        double widest = 0;
        for (const BarRow& row : rows())
            widest = std::max(widest, row.parts.empty() ? heading.horizontalAdvance(row.name)
                                                        : name.horizontalAdvance(QStringLiteral("W  ") + row.name));
        axisRect()->setMargins(QMargins(int(std::min(widest, double(theme.px(220)))) + theme.px(20), theme.px(8),
                                        theme.px(52), theme.px(40)));
    }
};

}  // namespace

Figure timeSplitFigure(const FigureData& data) {
    constexpr double kNanosecondsPerMillisecond = 1e6;
    Figure figure{QStringLiteral("time-split"),
                  QStringLiteral("Where the time of a step goes"),
                  QStringLiteral("one lane"),
                  {},
                  nullptr};
    const std::vector<MeasuredLine> lines = data.singleLaneLines();
    if (lines.empty()) return figure;
    QVector<BarRow> bars;
    for (const int depth : data.depths()) {
        bool heading = false;
        for (const MeasuredLine& line : lines)
            for (const BenchMeasurement& row : line.rows) {
                if (row.depth != depth) continue;
                if (!std::exchange(heading, true))
                    bars << BarRow{-1, false, 0, QStringLiteral("%1 tokens in the cache").arg(countText(depth)),
                                   {}, true};
                std::vector<double> parts = timeParts(row.split);
                for (double& part : parts)
                    part /= kNanosecondsPerMillisecond;
                bars << BarRow{line.index, line.reference, line.index, line.name, parts, true};
            }
    }
    auto chart = std::make_unique<TimeSplitChart>();
    chart->setParts(timePartStyles(), 2);
    chart->setRows(bars, QStringLiteral("ms per step, mean"));
    chart->fit();
    chart->applyTheme(Theme::instance());
    const QStringList names = timePartNames();
    for (qsizetype i = 0; i < names.size(); ++i)
        figure.legend << ReadoutPart::kind(timePartStyles()[i], names[i]);
    figure.chart = std::move(chart);
    return figure;
}

}  // namespace kvasir::ui
