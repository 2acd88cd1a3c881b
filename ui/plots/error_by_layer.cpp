// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/error_by_layer.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/lane_picker.h"
#include "ui/plots/run_csv.h"

namespace kvasir::ui {

ErrorByLayer::ErrorByLayer(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : PlotFrame(feed, view, texts, parent), picker_(new LanePicker), map_(new HeatMapChart) {
    addKnobs(picker_);
    addChart(map_);
    connect(picker_, &LanePicker::chosen, this, [this] {
        startLane();
        catchUp();
        emit subtitleChanged(laneName(run(), picker_->lane()));
    });
}

void ErrorByLayer::startRun() {
    picker_->setLanes(run(), false);
    startLane();
}

void ErrorByLayer::startLane() {
    n_drawn_ = n_floor_ = 0;
    begun_ = false;
}

int ErrorByLayer::nViews() const {
    return std::max(1, int(picker_->lanes().size()));
}

QString ErrorByLayer::viewName(int view) const {
    const QVector<int> lanes = picker_->lanes();
    return view < lanes.size() ? look(lanes[view]).letter + QLatin1Char(' ') + laneName(run(), lanes[view]) : QString();
}

bool ErrorByLayer::showView(int view) {
    catchUpUnseen();
    const QVector<int> lanes = picker_->lanes();
    if (view >= lanes.size()) return true;
    picker_->choose(lanes[view]);
    startLane();
    takeRecords();
    return true;
}

bool ErrorByLayer::isEmpty() const {
    if (PlotFrame::isEmpty()) return true;
    if (picker_->lane() >= 0 && picker_->lane() < run().n_lanes() && !run().failure(picker_->lane()).empty())
        return true;
    for (int lane = 0; lane < run().n_lanes(); ++lane)
        for (const StepRecord& record : run().lane(lane))
            if (!record.attention_error.empty()) return false;
    return true;
}

QString ErrorByLayer::emptyReason() const {
    if (PlotFrame::isEmpty() || !isEmpty()) return {};
    if (picker_->lane() >= 0 && picker_->lane() < run().n_lanes())
        if (const std::string& why = run().failure(picker_->lane()); !why.empty())
            return tr("No figures: %1").arg(QString::fromStdString(why).toHtmlEscaped());
    return tr("No record of the layers: layer errors were off in this run. Turn them on in Experiment and run again.");
}

void ErrorByLayer::takeRecords() {
    if (picker_->lane() < 0) return;
    const std::vector<StepRecord>& records = run().lane(picker_->lane());
    if (records.empty()) return;
    const int first = records.front().position;
    if (!begun_) {
        map_->begin(first, std::max(run().info().n_planned, int(records.size())), run().n_layers(),
                    tr("relative error"));
        begun_ = true;
    }
    for (; n_drawn_ < records.size(); ++n_drawn_)
        if (showsError(run(), picker_->lane(), records[n_drawn_]))
            map_->setColumn(records[n_drawn_].position, records[n_drawn_].attention_error);
    const int planned = feed().running() ? first + run().info().n_planned - 1 : first;
    map_->setLast(std::max(records.back().position, planned));
    greyInsideFloor();
}

/// The floor of a step comes after its errors.
void ErrorByLayer::greyInsideFloor() {
    const int first = int(run().info().prompt_ids.size());
    for (; n_floor_ < run().floors().size(); ++n_floor_) {
        const FloorRecord& floor = run().floors()[n_floor_];
        map_->setFloor(first + floor.step, floor.attention_error, tr("≤ noise floor"));
    }
}

Readout ErrorByLayer::makeReadout() const {
    if (picker_->lane() < 0) return {};
    const std::vector<StepRecord>& records = run().lane(picker_->lane());
    const int step = view().crosshairStep();
    int index = step < 0 ? int(records.size()) - 1 : recordIndex(run(), picker_->lane(), step);
    if (index < 0) return {};
    if (step < 0 || !records[size_t(index)].comparable)  // the newest that says something
        for (int i = index; i >= 0; --i)
            if (showsError(run(), picker_->lane(), records[size_t(i)])) {
                index = i;
                break;
            }
    const StepRecord& record = records[size_t(index)];
    Readout readout{ReadoutPart::plain(tr("token %1").arg(countText(record.position)))};
    const std::vector<float>& errors = record.attention_error;
    if (!record.comparable) {
        readout << ReadoutPart::plain(tr("another text than the reference's: no error"), true);
    } else if (run().nothing_read(picker_->lane(), record)) {
        readout << ReadoutPart::plain(tr("0 % read: says nothing about the cache"), true);
    } else if (!errors.empty()) {
        const auto largest = std::max_element(errors.begin(), errors.end());
        const int layer = layer_ >= 0 && layer_ < int(errors.size()) ? layer_ : int(largest - errors.begin());
        readout << ReadoutPart::lane(look(picker_->lane()), errorText(double(errors[size_t(layer)])))
                << ReadoutPart::plain(layer_ >= 0 ? tr("in layer %1").arg(layer)
                                                  : tr("largest, in layer %1").arg(layer));
        const FloorRecord* floor = run().floor_at(record.step);
        if (floor && layer < int(floor->attention_error.size()))
            readout << ReadoutPart::plain(
                tr("noise floor %1").arg(errorText(double(floor->attention_error[size_t(layer)]))), true);
        readout << ReadoutPart::plain(tr("relative"), true);
    }
    return readout;
}

QString ErrorByLayer::makeProvenance() const {
    return tr("attention output error |o − o_ref| / |o_ref|") + QStringLiteral(" · ") + PlotFrame::makeProvenance();
}

QString ErrorByLayer::exportTitle() const {
    return picker_->lane() < 0
               ? PlotFrame::exportTitle()
               : QStringLiteral("%1: %2").arg(PlotFrame::exportTitle(), laneName(run(), picker_->lane()));
}

/// Columns of the picture.
QString ErrorByLayer::countWords(int lane) const {
    const std::vector<StepRecord>& records = run().lane(lane);
    return tr("n %1").arg(std::count_if(records.begin(), records.end(), [&](const StepRecord& record) {
        return !record.attention_error.empty() && showsError(run(), lane, record);
    }));
}

void ErrorByLayer::pointedAt(double, double y) {
    layer_ = int(std::lround(y));
}

void ErrorByLayer::rowStepped(int rows) {
    layer_ = std::clamp((layer_ < 0 ? 0 : layer_) + rows, 0, std::max(run().n_layers() - 1, 0));
    refreshReadout();
}

QByteArray ErrorByLayer::csv() const {
    RunCsv csv(run(), {"step", "position", "comparable", "layer", "attention_error", "floor_attention_error"});
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        const FloorRecord* floor = floorOf(run(), lane, r.step);
        const bool error = showsError(run(), lane, r);
        for (size_t layer = 0; layer < r.attention_error.size(); ++layer)
            csv.row(lane,
                    {QByteArray::number(r.step), QByteArray::number(r.position), r.comparable ? "1" : "0",
                     QByteArray::number(int(layer)), error ? exactText(r.attention_error[layer]) : QByteArray(),
                     floor && layer < floor->attention_error.size() ? exactText(floor->attention_error[layer]) : ""});
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
