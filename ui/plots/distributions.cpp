// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/distributions.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QToolButton>
#include <cmath>
#include <numeric>

#include "core/session/lane_identity.h"
#include "ui/plots/flow_layout.h"
#include "ui/plots/lane_picker.h"
#include "ui/plots/run_csv.h"

namespace kvasir::ui {

namespace {
QString sideText(Side side) {
    return side == Side::k ? QStringLiteral("K") : QStringLiteral("V");
}
}  // namespace

Distributions::Distributions(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : PlotFrame(feed, view, texts, parent),
      picker_(new LanePicker),
      side_(new QButtonGroup(this)),
      layer_(new QSpinBox),
      head_(new QComboBox),
      decoded_(new QCheckBox(tr("decoded"))),
      chart_(new HistogramChart) {
    auto* knobs = new QWidget;
    auto* row = new FlowLayout(knobs, Theme::instance().px(6));
    for (const Side side : {Side::k, Side::v}) {
        auto* button = new QToolButton;
        button->setText(side == Side::k ? tr("Keys") : tr("Values"));
        button->setCheckable(true);
        button->setChecked(side == Side::v);
        side_->addButton(button, int(side));
        row->addWidget(button);
    }
    layer_->setPrefix(tr("layer "));
    layer_->setAccessibleName(tr("Layer"));
    head_->setAccessibleName(tr("KV head"));
    decoded_->setToolTip(tr("Histogram of the values that attention reads"));
    row->addWidget(layer_);
    row->addWidget(head_);
    readoutRow()->addWidget(decoded_);  // a row less of knobs
    addKnobs(knobs);
    addKnobs(picker_);
    addChart(chart_);

    connect(picker_, &LanePicker::chosen, this, &Distributions::ask);
    connect(side_, &QButtonGroup::idClicked, this, &Distributions::ask);
    connect(layer_, &QSpinBox::valueChanged, this, &Distributions::ask);
    connect(head_, &QComboBox::currentIndexChanged, this, &Distributions::ask);
    connect(decoded_, &QCheckBox::toggled, this, [this](bool shown) {
        chart_->setDecodedShown(shown);
        chart_->refresh();
    });
    connect(chart_, &Chart::pointerLeft, this, [this] {
        pointing_ = false;
        refreshReadout();
    });
    connect(&feed, &PlotFeed::distributionReady, this, &Distributions::receive);
}

void Distributions::startRun() {
    frame_.reset();
    no_bins_ = false;
    picker_->setLanes(run(), true);
    const QSignalBlocker quiet_layer(layer_), quiet_head(head_);
    const int n_heads = run().empty() ? 0 : run().n_kv_heads();
    if (head_->count() != n_heads + 1) {
        head_->clear();
        head_->addItem(tr("all heads"), -1);
        for (int head = 0; head < n_heads; ++head)
            head_->addItem(tr("head %1").arg(head), head);
    }
    layer_->setMaximum(run().empty() ? 0 : std::max(run().n_layers() - 1, 0));
    ask();
}

int Distributions::nViews() const {
    return std::max(1, 2 * int(picker_->lanes().size()));
}

QString Distributions::viewName(int view) const {
    const QVector<int> lanes = picker_->lanes();
    if (view / 2 >= lanes.size()) return {};
    return QStringLiteral("%1 %2 %3")
        .arg(look(lanes[view / 2]).letter, laneName(run(), lanes[view / 2]), view % 2 ? tr("values") : tr("keys"));
}

bool Distributions::showView(int view) {
    catchUpUnseen();
    const QVector<int> lanes = picker_->lanes();
    if (view / 2 >= lanes.size()) return true;
    picker_->choose(lanes[view / 2]);
    side_->button(int(view % 2 ? Side::v : Side::k))->setChecked(true);
    if (!isEmpty() && frame_->request == wanted()) return true;
    if (!unseen_ || !(*unseen_ == wanted())) feed().requestDistribution(wanted());
    unseen_ = wanted();
    asked_feed_ = &feed();
    return false;
}

Distributions::~Distributions() {
    if (unseen_ && asked_feed_) asked_feed_->cancelDistribution();
}

DistributionRequest Distributions::wanted() const {
    DistributionRequest request;
    request.lane = picker_->lane();
    request.layer = layer_->value();
    request.kv_head = head_->currentData().toInt();
    request.side = Side(side_->checkedId());
    return request;
}

void Distributions::ask() {
    if (!isVisible() || run().empty() || picker_->lane() < 0) return;
    feed().requestDistribution(wanted());
}

void Distributions::showEvent(QShowEvent* event) {
    PlotFrame::showEvent(event);
    ask();
}

void Distributions::hideEvent(QHideEvent* event) {
    PlotFrame::hideEvent(event);
    feed().cancelDistribution();
}

void Distributions::receive(std::shared_ptr<const DistributionFrame> frame) {
    if (!frame || run().empty() || !(frame->request == wanted())) return;  // of an earlier choice
    if (!std::isfinite(frame->low) || !std::isfinite(frame->high) || !(frame->high > frame->low)) {
        frame_.reset();  // its values are not finite, or all the same: there are no bins
        no_bins_ = true;
        return catchUp();
    }
    no_bins_ = false;
    const bool other = !frame_ || !(frame_->request == frame->request);
    frame_ = std::move(frame);
    frame_run_ = run().shared_info();
    const Experiment& experiment = run().info().experiment;
    const int lane = frame_->request.lane;
    chart_->show(*frame_, lane_mark(experiment, lane), lane == experiment.reference);
    if (other) {
        chart_->setFollowing(true);
        emit subtitleChanged(what());
    }
    catchUp();
}

QString Distributions::what() const {
    const DistributionRequest& r = frame_->request;
    return tr("%1, layer %2, %3")
        .arg(sideText(r.side))
        .arg(r.layer)
        .arg(r.kv_head < 0 ? tr("all heads") : tr("head %1").arg(r.kv_head));
}

QString Distributions::emptyReason() const {
    if (run().empty()) return {};
    if (no_bins_) return tr("No histogram: the values of this layer are not finite, or all the same.");
    return tr("No values of this layer yet. They come while the model runs, and stay until the next run.");
}

void Distributions::pointedAt(double x, double) {
    pointed_ = x;
    pointing_ = true;
    refreshReadout();
}

Readout Distributions::makeReadout() const {
    const LaneLook lane = look(frame_->request.lane);
    Readout readout{ReadoutPart::plain(what())};
    const double width = (frame_->high - frame_->low) / double(std::max<size_t>(frame_->before.size(), 1));
    const int bin = int(std::floor((pointed_ - frame_->low) / width));
    if (pointing_ && bin >= 0 && bin < int(frame_->before.size()) && bin < int(frame_->after.size())) {
        readout << ReadoutPart::plain(
                       tr("value %1 … %2")
                           .arg(errorText(frame_->low + bin * width), errorText(frame_->low + (bin + 1) * width)))
                << ReadoutPart::plain(tr("before %1").arg(countText(frame_->before[size_t(bin)])))
                << ReadoutPart::lane(lane, countText(frame_->after[size_t(bin)]));
    } else {
        readout << ReadoutPart::lane(lane, laneName(run(), frame_->request.lane));
        if (!frame_->levels.empty())
            readout << ReadoutPart::plain(
                tr("lines: the %1 levels of token %2")
                    .arg(countText(qint64(frame_->levels.size())), countText(frame_->level_token)),
                true);
    }
    return readout;
}

QString Distributions::makeProvenance() const {
    const quint64 n_values = std::accumulate(frame_->before.begin(), frame_->before.end(), quint64(0));
    return tr("%1 · %2 tokens, %3 of them quantized · %4 values · same bins, log count · exact values of the reference")
               .arg(what(), countText(frame_->n_tokens), countText(frame_->n_quantized), countText(qint64(n_values))) +
           QStringLiteral(" · ") + PlotFrame::makeProvenance();
}

QString Distributions::exportTitle() const {
    if (isEmpty()) return PlotFrame::exportTitle();
    return QStringLiteral("%1: %2, %3").arg(PlotFrame::exportTitle(), laneName(run(), frame_->request.lane), what());
}

QByteArray Distributions::csv() const {
    RunCsv csv(run(), {"side", "layer", "kv_head", "rotated", "n_tokens", "n_quantized", "bin_low", "bin_high",
                       "before", "after", "decoded"});
    if (isEmpty()) return csv.bytes();
    const DistributionFrame& f = *frame_;
    const double width = (f.high - f.low) / double(std::max<size_t>(f.before.size(), 1));
    const auto count = [](const std::vector<uint32_t>& counts, size_t i) {
        return i < counts.size() ? QByteArray::number(counts[i]) : QByteArray();
    };
    for (size_t i = 0; i < f.before.size(); ++i)
        csv.row(
            f.request.lane,
            {sideText(f.request.side).toUtf8(), QByteArray::number(f.request.layer),
             f.request.kv_head < 0 ? QByteArray("all") : QByteArray::number(f.request.kv_head), f.rotated ? "1" : "0",
             QByteArray::number(f.n_tokens), QByteArray::number(f.n_quantized), exactText(f.low + double(i) * width),
             exactText(f.low + double(i + 1) * width), count(f.before, i), count(f.after, i), count(f.decoded, i)});
    return csv.bytes();
}

}  // namespace kvasir::ui
