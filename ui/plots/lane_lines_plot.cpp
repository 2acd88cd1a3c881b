// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lane_lines_plot.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/session/lane_identity.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

LaneLinesPlot::LaneLinesPlot(PlotFeed& feed, ViewState& view, const PlotTexts& texts, std::vector<Measure> measures,
                             QWidget* parent)
    : PlotFrame(feed, view, texts, parent), measures_(std::move(measures)), chart_(new LinesChart) {
    addChart(chart_);
    chart_->setQuantity(measure().axis, measure().log);
    if (measures_.size() > 1)
        for (size_t i = 0; i < measures_.size(); ++i)
            addChoice(measures_[i].name, [this, i] { setMeasure(int(i)); });
    if (std::any_of(measures_.begin(), measures_.end(), [](const Measure& m) { return bool(m.predicted); }))
        connect(&feed, &PlotFeed::planChanged, this, [this] {
            if (run().empty()) startAgain();
        });
}

void LaneLinesPlot::addChoice(const QString& name, std::function<void()> chosen) {
    if (!menu_) {
        menu_ = new QToolButton;
        menu_->setPopupMode(QToolButton::InstantPopup);
        menu_->setToolButtonStyle(Qt::ToolButtonTextOnly);
        menu_->setMenu(new QMenu(menu_));
        menu_->setAccessibleName(tr("Shown quantity"));
        menu_->setToolTip(tr("Choose what is shown"));
        new QActionGroup(menu_);
        readoutRow()->addWidget(menu_);
    }
    const int index = int(choices_.size());
    choices_.push_back({name, std::move(chosen)});
    QAction* action = menu_->menu()->addAction(name, this, [this, index] { choose(index); });
    action->setCheckable(true);
    menu_->findChild<QActionGroup*>()->addAction(action);
    if (index == 0) {
        action->setChecked(true);
        menu_->setText(name + QStringLiteral(" ▾"));
    }
}

void LaneLinesPlot::choose(int index) {
    const Choice& choice = choices_[size_t(index)];
    menu_->menu()->actions().at(index)->setChecked(true);
    menu_->setText(choice.name + QStringLiteral(" ▾"));
    choice.chosen();
    emit subtitleChanged(choice.name);
}

void LaneLinesPlot::setMeasure(int index) {
    measure_ = size_t(index);
    chart_->setQuantity(measure().axis, measure().log);
    showChart(chart_);
    chart_->setFollowing(true);  // another quantity, another range
    buildLines();
    catchUp();
}

void LaneLinesPlot::startRun() {
    buildLines();
}

std::optional<PlannedRun> LaneLinesPlot::plan() const {
    return run().empty() ? feed().plannedRun() : planOf(run());
}

bool LaneLinesPlot::hasPicture() const {
    return PlotFrame::hasPicture() || (measure().predicted && plan());
}

void LaneLinesPlot::buildLines() {
    chart_->clearLines();
    means_.clear();
    n_drawn_.clear();
    gaps_.clear();
    spans_.clear();
    n_floor_ = 0;
    const std::optional<PlannedRun> planned = plan();
    if (!planned || (run().empty() && !measure().predicted)) return;
    const Experiment& experiment = planned->experiment;
    const size_t n_lanes = experiment.lanes.size();
    n_drawn_.assign(n_lanes, 0);
    gaps_.assign(n_lanes, Gaps());
    QCPRange nothing;  // its constructor would swap the ends
    nothing.lower = kInfinity, nothing.upper = -kInfinity;
    spans_.assign(n_lanes, nothing);
    means_.assign(n_lanes, RunningMean(measure().smoothing));
    floor_mean_ = RunningMean(measure().smoothing);
    if (measure().floor && experiment.noise_floor) chart_->floorBand().begin(!measure().log);
    for (int lane = 0; lane < int(n_lanes); ++lane) {
        const bool reference = lane == experiment.reference;
        const LaneSetup& setup = experiment.lanes[size_t(lane)];
        const bool runs = run().empty() ? check_geometry(setup.spec, planned->shape.n_kv_heads, planned->shape.head_dim,
                                                         planned->shape.n_layers)
                                              .ok()
                                        : run().failure(lane).empty();
        if (!setup.enabled || !runs || (reference && !measure().reference)) continue;
        chart_->addLine(lane, lane_mark(experiment, lane), reference, laneShortName(setup.spec), measure().raw);
        if (measure().predicted) addPrediction(setup.spec);
    }
    lanesShown();
}

void LaneLinesPlot::addPrediction(const CacheSpec& spec) {
    const PlannedRun planned = *plan();
    QVector<double> x, y;
    for (int i = 0; i < planned.n_planned; ++i) {
        x << planned.n_prompt + i;
        y << measure().predicted(spec, planned, planned.n_prompt + i);
    }
    chart_->addPrediction(x, y);
}

void LaneLinesPlot::lanesShown() {
    for (const LinesChart::Line& line : chart_->lines())
        chart_->setLaneShown(line.lane, view().laneShown(line.lane));
    if (!chart_->lines().isEmpty()) updateLimits();
}

double LaneLinesPlot::shownValue(int lane, const StepRecord& record) const {
    if (measure().compares != Compares::always && !record.comparable) return kNaN;
    if (measure().compares == Compares::as_error && run().nothing_read(lane, record)) return kNaN;
    const double value = measure().value(record);
    return std::isfinite(value) ? value : kNaN;
}

QString LaneLinesPlot::reasonForGap(int lane, const StepRecord& record) const {
    if (measure().compares != Compares::always && !record.comparable) return QStringLiteral("–");
    if (measure().compares == Compares::as_error && run().nothing_read(lane, record)) return tr("0 % read");
    return std::isinf(measure().value(record)) ? QStringLiteral("∞") : QStringLiteral("–");
}

int LaneLinesPlot::lastShown(int lane, int from) const {
    const std::vector<StepRecord>& records = run().lane(lane);
    for (int i = from; i >= 0; --i)
        if (!std::isnan(shownValue(lane, records[size_t(i)]))) return i;
    return -1;
}

void LaneLinesPlot::appendLane(int lane, const LinesChart::Line& line) {
    const std::vector<StepRecord>& records = run().lane(lane);
    size_t& n_drawn = n_drawn_[size_t(lane)];
    QCPRange& span = spans_[size_t(lane)];
    Gaps& gaps = gaps_[size_t(lane)];
    // A logarithmic axis has no place for zero and below: a gap, and the readout says so.
    const auto drawable = [&](double value) { return measure().log && value <= 0 ? kNaN : value; };
    const auto note = [&](double value) {
        if (std::isnan(value)) return;
        span.lower = std::min(span.lower, value);
        span.upper = std::max(span.upper, value);
    };
    for (; n_drawn < records.size(); ++n_drawn) {
        const StepRecord& record = records[n_drawn];
        const double value = shownValue(lane, record);
        double smooth = drawable(means_[size_t(lane)].add(value));
        if (std::isinf(smooth)) smooth = kNaN;
        if (measure().compares != Compares::always && !record.comparable)
            ++gaps.other_text;
        else if (measure().compares == Compares::as_error && run().nothing_read(lane, record))
            ++gaps.nothing_read;
        else if (std::isnan(value))
            gaps.not_finite += std::isnan(measure().value(record)) ? measure().compares != Compares::always : 1;
        else if (std::isnan(drawable(value)))
            ++gaps.not_positive;
        else if (std::isnan(smooth))
            ++gaps.not_finite;  // as the perplexity of so large a likelihood
        if (line.raw) {
            line.raw->addData(record.position, drawable(value));
            note(drawable(value));
        }
        line.line->addData(record.position, smooth);
        note(smooth);
    }
}

QString LaneLinesPlot::leftOut() const {
    QStringList parts;
    for (const LinesChart::Line& line : chart_->lines()) {
        if (PlotFrame::isEmpty() || !view().laneShown(line.lane)) continue;
        const Gaps& gaps = gaps_[size_t(line.lane)];
        QStringList reasons;
        if (gaps.other_text > 0) reasons << tr("%1 of another text").arg(gaps.other_text);
        if (gaps.nothing_read > 0) reasons << tr("%1 at 0 % read").arg(gaps.nothing_read);
        if (gaps.not_finite > 0) reasons << tr("%1 not finite").arg(gaps.not_finite);
        if (gaps.not_positive > 0) reasons << tr("%1 not above zero").arg(gaps.not_positive);
        if (const int below = belowAxis(line); below > 0)
            reasons << tr("%1 below %2").arg(below).arg(measure().text(axis_low_));
        if (!reasons.isEmpty()) parts << look(line.lane).letter + QLatin1Char(' ') + reasons.join(QStringLiteral(", "));
    }
    return parts.isEmpty() ? QString() : tr("not drawn: %1").arg(parts.join(QStringLiteral("; ")));
}

int LaneLinesPlot::belowAxis(const LinesChart::Line& line) const {
    if (!measure().log || !(spans_[size_t(line.lane)].lower < axis_low_)) return 0;
    const auto data = (line.raw ? line.raw : line.line)->data();
    return int(std::count_if(data->constBegin(), data->constEnd(),
                             [this](const QCPGraphData& point) { return point.value < axis_low_; }));
}

void LaneLinesPlot::appendFloor() {
    if (!measure().floor || !run().info().experiment.noise_floor) return;
    const double first = double(run().info().prompt_ids.size());
    for (; n_floor_ < run().floors().size(); ++n_floor_) {
        const FloorRecord& floor = run().floors()[n_floor_];
        chart_->floorBand().add(first + floor.step, floor_mean_.add(measure().floor(floor)));
    }
}

void LaneLinesPlot::takeRecords() {
    // a lane that stops loses its figures, those that were drawn too
    const auto& lines = chart_->lines();
    if (std::any_of(lines.begin(), lines.end(), [this](const auto& l) { return !run().failure(l.lane).empty(); }))
        buildLines();
    appendFloor();
    for (const LinesChart::Line& line : chart_->lines())
        appendLane(line.lane, line);
    updateLimits();
}

void LaneLinesPlot::updateLimits() {
    double first = kInfinity, last = -kInfinity;
    for (int lane = 0; lane < run().n_lanes(); ++lane) {
        if (run().lane(lane).empty()) continue;
        first = std::min(first, double(run().lane(lane).front().position));
        last = std::max(last, double(run().lane(lane).back().position));
    }
    if (first > last) {
        const std::optional<PlannedRun> planned = measure().predicted ? plan() : std::nullopt;
        if (!planned) return;
        first = planned->n_prompt;
        last = first + planned->n_planned - 1;
    }
    // While tokens may still come the axis keeps their place, so that it does not move.
    if (feed().running()) last = std::max(last, first + run().info().n_planned - 1);
    const QCPRange x(first, std::max(last, first + 1));
    const QCPRange y = yLimits(x);
    axis_low_ = y.lower;
    chart_->setLimits(x, y);
}

QCPRange LaneLinesPlot::yLimits(const QCPRange& x) const {
    double low = kInfinity, high = -kInfinity, lowest = measure().lowest;
    for (const LinesChart::Line& line : chart_->lines()) {
        if (!view().laneShown(line.lane)) continue;
        const QCPRange& span = spans_[size_t(line.lane)];
        low = std::min(low, span.lower);
        high = std::max(high, span.upper);
        if (!line.predicted) continue;
        bool found = false;
        const QCPRange predicted = line.predicted->getValueRange(found, QCP::sdBoth, x);
        if (found) low = std::min(low, predicted.lower), high = std::max(high, predicted.upper);
    }
    if (const FloorBand& floor = chart_->floorBand(); !floor.empty()) {
        // the band is in sight, with room below its upper edge
        bool found = false;
        const QCPRange levels = floor.graph()->getValueRange(found, measure().log ? QCP::sdPositive : QCP::sdBoth);
        if (found && measure().log) {
            low = std::min(low, levels.lower / 1.2);
            lowest = std::min(lowest, levels.lower / 1.2);
            high = std::max(high, levels.upper);
        } else if (found) {
            low = std::min(low, -levels.upper);
            high = std::max(high, levels.upper);
        }
    }
    if (low > high) low = measure().log ? 0.1 : 0, high = 1;
    // The ends are round figures, so that they seldom move; a little room above keeps the highest tick's label whole.
    if (measure().log) {
        low = std::max(low, lowest);
        high = std::max(high, low * 2);
        const bool wide = high / low > 100;
        return {wide ? std::pow(10, std::floor(std::log10(low))) : oneTwoFive(low, false),
                wide ? 2 * std::pow(10, std::ceil(std::log10(high))) : 1.1 * oneTwoFive(high, true)};
    }
    if (measure().from_zero) return {0, high > 0 ? 1.06 * niceAbove(high) : 1};
    const double reach = niceAbove(std::max({std::abs(low), std::abs(high), 1e-6}));
    return {low < 0 ? -reach : 0, high > 0 ? 1.06 * reach : 0.06 * reach};
}

Readout LaneLinesPlot::makePredictedReadout() const {
    const PlannedRun planned = *plan();
    Readout readout{ReadoutPart::plain(tr("predicted"))};
    for (const LinesChart::Line& line : chart_->lines())
        if (view().laneShown(line.lane) && line.predicted->dataCount() > 0)
            readout << ReadoutPart::lane(Theme::instance().lane(line.index, line.reference),
                                         measure().text((line.predicted->data()->constEnd() - 1)->value));
    const int last = planned.n_prompt + planned.n_planned - 1;
    readout << ReadoutPart::plain(tr("%1 at token %2").arg(measure().unit, countText(last)), true);
    return readout;
}

Readout LaneLinesPlot::floorLegend(double position) const {
    const double level = chart_->floorBand().levelAt(position);
    if (level <= 0) return {};
    const int n = std::min(chart_->floorBand().countAt(position), RunningMean::kWindow);
    const QString value = measure().text(level);
    return {ReadoutPart::kind({0.15, Qt::SolidPattern}, measure().smoothing == RunningMean::Kind::mean
                                                            ? tr("mean floor %1 (n %2)").arg(value).arg(n)
                                                            : tr("noise floor %1").arg(value))};
}

/// The value at the crosshair; without one the newest that there is. Where the lane has gone another way before the
/// crosshair, the last that compares.
LaneLinesPlot::Value LaneLinesPlot::laneValue(const LinesChart::Line& line) const {
    const std::vector<StepRecord>& records = run().lane(line.lane);
    const int wanted = view().crosshairStep();
    int index = wanted < 0 ? int(records.size()) - 1 : recordIndex(run(), line.lane, wanted);
    if (index < 0) return {};
    const bool other_text = measure().compares != Compares::always && !records[size_t(index)].comparable;
    if (wanted < 0 || other_text)  // else its reason for having none
        if (const int last = lastShown(line.lane, index); last >= 0) index = last;
    const StepRecord& record = records[size_t(index)];
    double value = shownValue(line.lane, record);
    if (std::isnan(value)) {
        ReadoutPart part = ReadoutPart::lane(look(line.lane), reasonForGap(line.lane, record));
        part.dim = true;
        return {part, record.position};
    }
    const bool mean = measure().newest_is_mean && wanted < 0;
    if (mean || !measure().raw) {
        const auto point = line.line->data()->findBegin(record.position, false);
        if (point != line.line->data()->constEnd()) value = point->value;
    }
    QString text = measure().text(value);
    if (measure().counted) {
        int n = 0;
        for (int i = 0; i <= index; ++i)
            n += !std::isnan(shownValue(line.lane, records[size_t(i)]));
        text += tr(" (n %1)").arg(n);
    }
    ReadoutPart part = ReadoutPart::lane(look(line.lane), text);
    part.dim = std::abs(value) < chart_->floorBand().levelAt(record.position);
    return {part, record.position, mean ? means_[size_t(line.lane)].n() : 0};
}

Readout LaneLinesPlot::lanesWithoutFigures() const {
    Readout parts;
    if (run().empty()) return parts;
    for (int lane = 0; lane < run().n_lanes(); ++lane) {
        if (run().failure(lane).empty() || !run().info().experiment.lanes[size_t(lane)].enabled) continue;
        ReadoutPart part = ReadoutPart::lane(look(lane), tr("no figures"));
        part.dim = true;
        parts << part;
    }
    return parts;
}

QString LaneLinesPlot::leadingWords(int position, int n_mean) const {
    return n_mean > 0 ? tr("mean of %1").arg(n_mean) : tr("token %1").arg(countText(position));
}

Readout LaneLinesPlot::makeReadout() const {
    if (PlotFrame::isEmpty()) return makePredictedReadout();
    QVector<Value> lanes;
    int at = positionOf(run(), view().crosshairStep()), n_mean = -1;
    const bool crosshair = at >= 0;
    bool forked = false;
    for (const LinesChart::Line& line : chart_->lines()) {
        const Value value = laneValue(line);
        if (value.position < 0) continue;
        if (!crosshair) at = std::max(at, value.position);
        if (!view().laneShown(line.lane)) continue;
        lanes << value;
        forked = forked || (measure().compares != Compares::always && value.part.text == QLatin1String("–"));
        if (value.n_mean > 0) n_mean = n_mean < 0 || n_mean == value.n_mean ? value.n_mean : 0;  // 0: not one for all
    }
    Readout readout;
    if (at >= 0) readout << ReadoutPart::plain(leadingWords(at, n_mean));
    for (Value& lane : lanes) {
        if (lane.n_mean > 0 && n_mean == 0) lane.part.text += tr(" (mean of %1)").arg(lane.n_mean);
        if (lane.position != at) lane.part.text += tr(" at %1").arg(countText(lane.position));
        readout << lane.part;
    }
    readout << lanesWithoutFigures() << floorLegend(at);
    QStringList remarks{measure().unit};
    if (n_mean > 0) remarks << tr("up to token %1").arg(countText(at));
    if (forked) remarks.prepend(tr("– the texts differ, no error"));
    if (!measure().note.isEmpty()) remarks << measure().note;
    if (const QString gaps = leftOut(); !gaps.isEmpty()) remarks << gaps;
    readout << ReadoutPart::plain(remarks.join(QStringLiteral(" · ")), true);
    return readout;
}

QString LaneLinesPlot::exportNote() const {
    return leftOut();
}

/// Of the values in the figure, not of all that the lane compared.
QString LaneLinesPlot::countWords(int lane) const {
    const auto& lines = chart_->lines();
    if (std::none_of(lines.begin(), lines.end(), [lane](const auto& line) { return line.lane == lane; }))
        return PlotFrame::countWords(lane);
    const std::vector<StepRecord>& records = run().lane(lane);
    return tr("n %1").arg(std::count_if(records.begin(), records.end(), [&](const StepRecord& record) {
        return !std::isnan(shownValue(lane, record));
    }));
}

bool LaneLinesPlot::showView(int view) {
    if (!choices_.empty()) choose(view);
    return true;
}

Readout LaneLinesPlot::exportLegend() const {
    Readout legend = floorLegend(kInfinity);
    if (!measure().note.isEmpty()) legend << ReadoutPart::plain(measure().note, true);
    return legend;
}

QString LaneLinesPlot::exportTitle() const {
    return measures_.size() < 2 ? PlotFrame::exportTitle()
                                : PlotFrame::exportTitle() + QStringLiteral(": ") + measure().name;
}

}  // namespace kvasir::ui
