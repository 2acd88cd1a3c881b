// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/histogram_chart.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {

constexpr double kLowestCount = 0.7;  // a bin of one value still stands above the axis

/// Codes as people read them: binary up to 4 bits, else the number.
QString codeText(size_t code, size_t n_levels) {
    int bits = 1;
    while ((size_t(1) << bits) < n_levels)
        ++bits;
    return bits <= 4 ? QStringLiteral("%1").arg(uint(code), bits, 2, QLatin1Char('0')) : QString::number(uint(code));
}

QString shapeText(const ValueStatistics& s) {
    return QStringLiteral("kurtosis %1 · max/σ %2").arg(fixedText(s.kurtosis, 1), fixedText(s.max_over_sigma, 1));
}

void fill(QCPBars& bars, const std::vector<uint32_t>& counts, double low, double width) {
    QVector<double> keys, values;
    for (size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;  // no bar: its logarithm is nowhere
        keys << low + (double(i) + 0.5) * width;
        values << counts[i];
    }
    bars.setWidth(width);
    bars.setData(keys, values, true);
}

}  // namespace

void HistogramNotes::draw(QCPPainter* painter) {
    const QRect area = axes_->rect();
    const QFont strong = theme->font(9, true), plain = theme->font(9);
    const QFontMetricsF metrics(strong, painter->device());
    const double baseline = area.top() - theme->px(8);
    const QColor text = theme->colour(QStringLiteral("text"));
    painter->setFont(strong);
    painter->setPen(title_colour);
    const double left = axes_->outerRect().left() + theme->px(8);
    const QString name = metrics.elidedText(title, Qt::ElideRight, std::max(0.0, area.right() - left));
    painter->drawText(QPointF(left, baseline), name);
    const double x = left + metrics.horizontalAdvance(name) + theme->px(10);
    painter->setFont(plain);
    painter->setPen(theme->colour(QStringLiteral("dim")));
    painter->drawText(
        QPointF(x, baseline),
        QFontMetricsF(plain, painter->device()).elidedText(figures, Qt::ElideRight, std::max(0.0, area.right() - x)));
    painter->setFont(strong);
    painter->setPen(QPen(text, 1));
    const QCPAxis* axis = axes_->axis(QCPAxis::atBottom);
    double free_from = area.left();  // labels never overlap; the lines are all drawn
    std::vector<std::pair<double, size_t>> lines;
    for (size_t code = 0; code < levels.size(); ++code)
        lines.emplace_back(axis->coordToPixel(levels[code]), code);
    std::sort(lines.begin(), lines.end());
    for (const auto& [at, code] : lines) {
        if (at < area.left() || at > area.right()) continue;
        painter->drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        const QString label = codeText(code, levels.size());
        const double width = metrics.horizontalAdvance(label);
        if (at + 3 < free_from || at + 3 + width > area.right()) continue;
        painter->drawText(QPointF(at + 3, area.top() + metrics.ascent() + 1), label);
        free_from = at + 3 + width + 4;
    }
}

QString HistogramNotes::tipAt(QPointF at) const {
    const QRect outer = axes_->outerRect();
    const QRectF caption(outer.left(), outer.top(), outer.width(), axes_->rect().top() - outer.top());
    return caption.contains(at) && !figures.isEmpty() ? title + QStringLiteral(": ") + figures : QString();
}

HistogramChart::HistogramChart(QWidget* parent) : Chart(parent) {
    lower_ = new QCPAxisRect(this);
    plotLayout()->addElement(1, 0, lower_);
    plotLayout()->setRowSpacing(0);
    QCPAxis *lower_x = lower_->axis(QCPAxis::atBottom), *lower_y = lower_->axis(QCPAxis::atLeft);
    before_ = new QCPBars(xAxis, yAxis);
    after_ = new QCPBars(lower_x, lower_y);
    decoded_ = addGraph(lower_x, lower_y);
    decoded_->setLineStyle(QCPGraph::lsStepCenter);
    decoded_->setVisible(false);
    for (QCPBars* bars : {before_, after_}) {
        bars->setWidthType(QCPBars::wtPlotCoords);
        bars->setBaseValue(kLowestCount / 2);
    }
    for (QCPAxis* axis : {xAxis, lower_x})
        setAxisLog(*axis, false);
    for (QCPAxis* axis : {yAxis, lower_y}) {
        setAxisLog(*axis, true);
        setAxisLabel(*axis, QStringLiteral("count"));
    }
    setAxisLabel(*lower_x, QStringLiteral("value"));
    const auto together = [this](QCPAxis* a, QCPAxis* b) {  // the same ranges above and below, always
        const auto changed = qOverload<const QCPRange&>(&QCPAxis::rangeChanged);
        connect(a, changed, b, qOverload<const QCPRange&>(&QCPAxis::setRange));
        connect(b, changed, a, qOverload<const QCPRange&>(&QCPAxis::setRange));
    };
    together(xAxis, lower_x);
    together(yAxis, lower_y);
    before_notes_ = new HistogramNotes(this, axisRect());
    after_notes_ = new HistogramNotes(this, lower_);
    HistogramChart::applyTheme(Theme::instance());
}

void HistogramChart::show(const DistributionFrame& frame, int lane_index, bool reference) {
    lane_index_ = lane_index;
    reference_ = reference;
    const size_t n_bins = std::max<size_t>(frame.before.size(), 1);
    const double width = (frame.high - frame.low) / double(n_bins);
    fill(*before_, frame.before, frame.low, width);
    fill(*after_, frame.after, frame.low, width);
    QVector<double> keys, values;
    for (size_t i = 0; i < frame.decoded.size(); ++i) {
        keys << frame.low + (double(i) + 0.5) * width;
        values << std::max(double(frame.decoded[i]), kLowestCount / 2);
    }
    decoded_->setData(keys, values, true);
    x_ = QCPRange(frame.low, frame.high);
    most_ = 1;
    for (const auto* counts : {&frame.before, &frame.after})
        for (const uint32_t count : *counts)
            most_ = std::max(most_, double(count));

    before_notes_->title = tr("before rotation");
    before_notes_->figures = shapeText(frame.before_stats);
    after_notes_->title = frame.rotated ? tr("after rotation") : tr("not rotated");
    QString figures = frame.rotated ? shapeText(frame.after_stats) : tr("this side keeps its values");
    if (frame.n_quantized > 0)
        figures += QStringLiteral(" · MSE %1 · SQNR %2 dB")
                       .arg(QString::number(frame.mse, 'e', 2), fixedText(frame.sqnr_db, 1));
    else
        figures += QStringLiteral(" · ") + tr("no token quantized yet");
    after_notes_->figures = figures;
    after_notes_->levels = frame.levels;
    restyleHistograms();
}

void HistogramChart::setDecodedShown(bool shown) {
    decoded_->setVisible(shown);
}

void HistogramChart::restyleHistograms() {
    const auto paint = [](QCPBars& bars, QColor colour) {
        bars.setPen(QPen(colour, 1));
        colour.setAlphaF(0.43f);
        bars.setBrush(colour);
    };
    const QColor lane = theme().lane(lane_index_, reference_).colour;
    paint(*before_, theme().colour(QStringLiteral("dim")));
    paint(*after_, lane);
    decoded_->setPen(QPen(theme().colour(QStringLiteral("text")), 1));
    before_notes_->title_colour = theme().colour(QStringLiteral("text"));
    after_notes_->title_colour = lane;
}

void HistogramChart::applyTheme(const Theme& theme) {
    Chart::applyTheme(theme);
    before_notes_->theme = after_notes_->theme = &theme;
    arrange(this->size());
    restyleHistograms();
}

QString HistogramChart::tipAt(QPointF at) const {
    for (const HistogramNotes* notes : {before_notes_, after_notes_})
        if (const QString tip = notes->tipAt(at); !tip.isEmpty()) return tip;
    return Chart::tipAt(at);
}

int HistogramChart::heightAbove() const {
    return 2 * heightBeside();  // each has half, and the lower one the wider margins
}

int HistogramChart::heightBeside() const {
    return kLeastArea + theme().px(24) + theme().px(40);
}

void HistogramChart::arrange(QSize size) {
    const bool wide = size.width() >= theme().px(300);
    place(wide && size.height() < heightAbove());
    setMinimumSize(theme().px(180), wide ? heightBeside() : heightAbove());
}

void HistogramChart::place(bool beside) {
    const int left = theme().px(54), right = theme().px(12), top = theme().px(24), bottom = theme().px(40);
    axisRect()->setMargins(QMargins(left, top, right, beside ? bottom : theme().px(20)));
    lower_->setMargins(QMargins(beside ? theme().px(40) : left, top, right, bottom));
    setAxisLabel(*xAxis, beside ? QStringLiteral("value") : QString());
    setAxisLabel(*lower_->axis(QCPAxis::atLeft), beside ? QString() : QStringLiteral("count"));
    if (beside == beside_) return;
    beside_ = beside;
    plotLayout()->take(lower_);
    plotLayout()->simplify();
    plotLayout()->addElement(beside ? 0 : 1, beside ? 1 : 0, lower_);
    changeAxes();
}

void HistogramChart::fit() {
    xAxis->setRange(x_);
    yAxis->setRange(kLowestCount, std::max(20.0, most_ * 2.5));
}

}  // namespace kvasir::ui
