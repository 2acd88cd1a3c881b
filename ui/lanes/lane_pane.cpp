// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_pane.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

LanePane::LanePane(RunController& controller, ViewState& view, QWidget* parent)
    : QWidget(parent), controller_(controller), header_(new LaneHeader(this)), body_(new LaneBody(view, this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(2, 2, 2, 2);
    column->setSpacing(0);
    column->addWidget(header_);
    column->addWidget(body_, 1);
}

void LanePane::setLane(int lane) {
    body_->setRun(controller_.sharedRun(), lane);
    updateHeader();
}

void LanePane::updateHeader() {
    const RunModel& run = controller_.run();
    const bool measured = !run.empty();
    const Experiment& experiment = controller_.shownExperiment();
    if (lane() >= int(experiment.lanes.size())) return;
    const CacheSpec& spec = experiment.lanes[size_t(lane())].spec;
    LaneHeaderContent c;
    c.look = Theme::instance().laneOf(experiment, lane());
    c.name = QString::fromStdString(display_name(spec));
    c.spec = QString::fromStdString(spec.text);
    c.reference = lane() == experiment.reference;
    c.exact = spec.exact();
    c.measures_floor = experiment.noise_floor;
    c.reference_path = experiment.kernels == KernelPath::reference;
    const int head_dim = measured ? run.head_dim() : controller_.model() ? controller_.model()->config().head_dim : 64;
    const int n_layers = measured ? run.n_layers() : controller_.model() ? controller_.model()->config().n_layers : 0;
    c.nominal_bits = nominal_bits_per_value(spec, head_dim, n_layers);
    if (measured) {
        c.trouble = QString::fromStdString(run.failure(lane()));
        tally_.catchUp(controller_.sharedRun(), lane());
        c.noise_floor = tally_.floor_kl_mean();
        NoiseFloor floor;
        floor.kl_mean = c.noise_floor;
        c.figures = lane_figures(run, lane(), c.trouble.isEmpty() ? tally_.summary() : LaneSummary(), floor);
    }
    header_->setContent(c);
    body_->setAccessibleName(tr("Text of lane %1, %2").arg(c.look.letter, c.name));
    updateNote();
}

/// Why there is no text, or no more of it.
void LanePane::updateNote() {
    const RunModel& run = controller_.run();
    if (!run.empty()) {
        if (const std::string& why = run.failure(lane()); !why.empty())
            return body_->setNote(tr("No figures: %1").arg(QString::fromStdString(why)).toHtmlEscaped(), true);
        if (!run.lane(lane()).empty()) return body_->setNote({});
        if (controller_.runIsOver()) return body_->setNote(tr("The run ended before a token was measured."));
        return body_->setNote(tr("The model reads the prompt, %1 tokens.").arg(run.info().prompt_ids.size()));
    }
    const Experiment& experiment = controller_.experiment();
    if (lane() == experiment.reference)
        return body_->setNote(
            tr("The text the other lanes are measured against. It appears here while the model reads."));
    const QString name = QString::fromStdString(display_name(experiment.lanes[size_t(lane())].spec)).toHtmlEscaped();
    const QString reference =
        QString::fromStdString(display_name(experiment.lanes[size_t(experiment.reference)].spec)).toHtmlEscaped();
    body_->setNote(
        tr("Same text, cache stored as <b>%1</b>. Tokens are tinted by their error against %2.").arg(name, reference));
}

void LanePane::restyle() {
    header_->updateGeometry();
    header_->update();
    updateHeader();
    body_->restyle();
}

void LanePane::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool focus = body_->hasFocus();
    painter.setPen(QPen(theme.colour(focus ? QStringLiteral("accent") : QStringLiteral("line")), focus ? 2 : 1));
    painter.setBrush(theme.colour(QStringLiteral("base")));
    const double inset = focus ? 1 : 0.5;
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 3, 3);
}

}  // namespace kvasir::ui
