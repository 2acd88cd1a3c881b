// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_frame.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/plots/plot_text.h"
#include "ui/shell/steady_scroll.h"

namespace kvasir::ui {

int recordIndex(const RunModel& run, int lane, int step) {
    const auto& records = run.lane(lane);
    const auto it = std::lower_bound(records.begin(), records.end(), step,
                                     [](const StepRecord& record, int wanted) { return record.step < wanted; });
    return it != records.end() && it->step == step ? int(it - records.begin()) : -1;
}

int positionOf(const RunModel& run, int step) {
    if (step < 0 || run.empty()) return -1;
    for (int lane = 0; lane < run.n_lanes(); ++lane)
        if (const int i = recordIndex(run, lane, step); i >= 0) return run.lane(lane)[size_t(i)].position;
    return -1;
}

const FloorRecord* floorOf(const RunModel& run, int lane, int step) {
    return lane == run.info().experiment.reference ? run.floor_at(step) : nullptr;
}

int stepNear(const RunModel& run, double position) {
    const std::vector<StepRecord>* longest = nullptr;
    for (int lane = 0; lane < run.n_lanes(); ++lane)
        if (!longest || run.lane(lane).size() > longest->size()) longest = &run.lane(lane);
    if (!longest || longest->empty()) return -1;
    const auto it = std::lower_bound(longest->begin(), longest->end(), std::lround(position),
                                     [](const StepRecord& record, long wanted) { return record.position < wanted; });
    return it == longest->end() ? longest->back().step : it->step;
}

PlotFrame::PlotFrame(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : PlotView(parent), feed_(feed), view_(view), texts_(texts) {
    setObjectName(texts.id);
    setAccessibleName(texts.title);
    content_ = new QWidget;
    auto* scroll = new SteadyScroll;
    scroll->setWidget(content_);
    for (QWidget* see_through : {scroll->viewport(), content_})  // the ground is the frame's own
        see_through->setAutoFillBackground(false);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(scroll);
    column_ = new QVBoxLayout(content_);
    readout_row_ = new QHBoxLayout;
    readout_ = new ReadoutLine;
    readout_row_->addWidget(readout_, 1);
    column_->addLayout(readout_row_);
    pages_ = new QStackedWidget;
    empty_ = new QLabel;
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setMinimumSize(40, 40);
    pages_->addWidget(empty_);
    column_->addWidget(pages_, 1);
    provenance_ = new OneLineLabel;
    column_->addWidget(provenance_);

    connect(&feed, &PlotFeed::runBegan, this, &PlotFrame::startAgain);
    connect(&feed, &PlotFeed::recordsAppended, this, &PlotFrame::catchUp);
    connect(&feed, &PlotFeed::runningChanged, this, &PlotFrame::catchUp);
    connect(&view, &ViewState::crosshairChanged, this, [this] {
        if (isVisible()) moveCrosshair();
    });
    connect(&view, &ViewState::lanesShownChanged, this, [this] {
        if (new_run_) return;
        lanesShown();
        chart_->refresh();
        refreshReadout();
    });
    connect(&Theme::instance(), &Theme::changed, this, &PlotFrame::restyle);
    restyle();
}

void PlotFrame::restyle() {
    const Theme& theme = Theme::instance();
    column_->setContentsMargins(theme.px(10), theme.px(4), theme.px(10), theme.px(4));
    column_->setSpacing(theme.px(2));
    provenance_->setFont(theme.font(8));
    QPalette dim = provenance_->palette();
    dim.setColor(QPalette::WindowText, theme.colour(QStringLiteral("dim")));
    provenance_->setPalette(dim);
    empty_->setFont(theme.font(9));
    for (Chart* chart : charts_)
        chart->applyTheme(theme);
    setAutoFillBackground(true);
    QPalette colours = palette();
    colours.setColor(QPalette::Window, theme.colour(QStringLiteral("base")));
    setPalette(colours);
    if (!chart_) return;
    themed();
    chart_->refresh();
    refreshReadout();
}

Chart* PlotFrame::chart() const {
    return chart_;
}

void PlotFrame::addChart(Chart* chart) {
    charts_ << chart;
    pages_->addWidget(chart);
    chart->setAccessibleName(texts_.title);
    connect(chart, &Chart::followingChanged, this, [this, chart](bool follow) {
        if (chart == chart_) emit followingChanged(follow);
    });
    connect(chart, &Chart::shown, this, [this, chart] {
        if (chart == chart_ && hasPicture()) emit updated();
    });
    connect(chart, &Chart::pointed, this, [this](double x, double y) {
        pointedAt(x, y);
        if (!tokensAlongX()) return;
        pointing_ = true;
        view_.setCrosshairStep(stepNear(run(), x));
        refreshReadout();
    });
    connect(chart, &Chart::pointerLeft, this, [this] {
        if (std::exchange(pointing_, false)) view_.setCrosshairStep(-1);
    });
    connect(chart, &Chart::crosshairStepped, this, &PlotFrame::stepCrosshair);
    connect(chart, &Chart::crosshairJumped, this,
            [this](bool to_end) { stepCrosshair(to_end ? int(1e9) : int(-1e9)); });
    connect(chart, &Chart::rowStepped, this, &PlotFrame::rowStepped);
    connect(chart, &Chart::laneClicked, this, [this](int lane) { view_.setLaneShown(lane, !view_.laneShown(lane)); });
    if (!chart_) showChart(chart);
}

void PlotFrame::showChart(Chart* chart) {
    const bool was_following = !chart_ || chart_->following();
    chart_ = chart;
    setFocusProxy(chart);
    if (hasPicture()) pages_->setCurrentWidget(chart);
    if (chart->following() != was_following) emit followingChanged(chart->following());
}

void PlotFrame::addKnobs(QWidget* row) {
    column_->insertWidget(0, row);
}

LaneLook PlotFrame::look(int lane) const {
    return Theme::instance().laneOf(run().info().experiment, lane);
}

bool PlotFrame::following() const {
    return chart_->following();
}
void PlotFrame::setFollowing(bool follow) {
    chart_->setFollowing(follow);
}

bool PlotFrame::isEmpty() const {
    if (run().empty()) return true;
    for (int lane = 0; lane < run().n_lanes(); ++lane)
        if (!run().lane(lane).empty()) return false;
    return true;
}

void PlotFrame::startAgain() {
    new_run_ = true;
    pointing_ = false;
    for (Chart* chart : charts_)
        if (!chart->following()) chart->setFollowing(true);  // what was held is a place in the run before
    catchUp();
}

void PlotFrame::catchUp() {
    stale_ = true;
    if (isVisible()) drawMissing();
}

void PlotFrame::catchUpUnseen() {
    if (stale_ || new_run_) drawMissing();
}

void PlotFrame::drawMissing() {
    stale_ = false;
    if (std::exchange(new_run_, false)) {
        startRun();
        lanesShown();
    }
    if (!run().empty()) takeRecords();
    const QString reason = emptyReason();
    empty_->setText(
        reason.isEmpty() ? QStringLiteral("<b>%1</b><br>%2").arg(tr("No tokens scored yet"), texts_.question) : reason);
    pages_->setCurrentWidget(hasPicture() ? static_cast<QWidget*>(chart_) : empty_);
    chart_->refresh();
    provenance_->setText(isEmpty() ? QString() : makeProvenance());
    moveCrosshair();
}

void PlotFrame::refreshReadout() {
    const Readout readout = new_run_ || !hasPicture() ? Readout() : makeReadout();
    readout_->setReadout(readout);
    if (provenance_->isHidden()) readout_->setToolTip(readoutText(readout) + QLatin1Char('\n') + provenance_->text());
    chart_->setAccessibleDescription(readoutText(readout));
}

void PlotFrame::moveCrosshair() {
    const int position = tokensAlongX() ? positionOf(run(), view_.crosshairStep()) : -1;
    if (position >= 0)
        chart_->showCrosshair(position);
    else
        chart_->hideCrosshair();
    refreshReadout();
}

void PlotFrame::stepCrosshair(int by) {
    const int last = stepNear(run(), 1e9);
    if (last < 0 || !tokensAlongX()) return;
    const int from = view_.crosshairStep() < 0 ? last + 1 : view_.crosshairStep();
    pointing_ = false;
    view_.setCrosshairStep(int(std::clamp<qint64>(qint64(from) + by, 0, last)));
}

void PlotFrame::showEvent(QShowEvent* event) {
    PlotView::showEvent(event);
    if (stale_)
        drawMissing();
    else
        moveCrosshair();
}

QSize PlotFrame::minimumSizeHint() const {
    const Theme& theme = Theme::instance();
    const int chart = Chart::kLeastArea + theme.px(8) + theme.px(40);
    return {theme.px(200), chart + readoutLineHeight(theme) + theme.px(4) + theme.px(4) + theme.px(2)};
}

void PlotFrame::resizeEvent(QResizeEvent* event) {
    PlotView::resizeEvent(event);
    // Where space is short the line gives way to the readout's tooltip, see the design's order of what gives way.
    const Theme& theme = Theme::instance();
    provenance_->setVisible(width() >= theme.px(440) && height() >= theme.px(150));
}

QString PlotFrame::makeProvenance() const {
    return provenance(run());
}

QString PlotFrame::countWords(int lane) const {
    return comparedWords(run(), lane);
}

ExportPage PlotFrame::exportPage() {
    catchUpUnseen();
    QStringList caption{isEmpty() ? tr("No tokens scored") : makeProvenance()};
    const QString lanes = captionNotes(run(), [this](int lane) { return countWords(lane); });
    for (const QString& note : {unequalNote(run()), exportNote(), lanes})
        if (!note.isEmpty()) caption << note;
    if (!chart_->following()) caption << tr("The picture shows a part of the data, chosen by zoom");
    if (chart_->following()) chart_->fit();
    return {chart_, exportTitle(), isEmpty() ? Readout() : exportLegend(), caption.join(QStringLiteral(" · "))};
}

bool PlotFrame::savePng(const QString& path, int scale, QString* error) {
    return writeExport(path, pngBytes(exportPage(), std::clamp(scale, 1, 4)), error);
}

bool PlotFrame::saveSvg(const QString& path, QString* error) {
    return writeExport(path, svgBytes(exportPage()), error);
}

bool PlotFrame::savePdf(const QString& path, QString* error) {
    return writeExport(path, pdfBytes(exportPage()), error);
}

}  // namespace kvasir::ui
