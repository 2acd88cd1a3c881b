// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/floor_band.h"

namespace kvasir::ui {

FloorBand::FloorBand(QCustomPlot* plot) : plot_(plot), words_(new QCPItemText(plot)) {
    words_->setText(QCoreApplication::translate("FloorBand", "noise floor"));
    words_->position->setType(QCPItemPosition::ptAxisRectRatio);
    words_->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    words_->setSelectable(false);
    words_->setVisible(false);
}

void FloorBand::begin(bool mirrored) {
    upper_ = plot_->addGraph();
    lower_ = mirrored ? plot_->addGraph() : nullptr;
    // the words stand in the band: at the lower end of a logarithmic axis, or around zero, whose place moves
    words_->position->setCoords(0.01, 1);
    restyle();
}

void FloorBand::clear() {
    upper_ = lower_ = nullptr;
    words_->setVisible(false);
}

void FloorBand::add(double x, double level) {
    upper_->addData(x, level);
    if (lower_) lower_->addData(x, -level);
    words_->setVisible(!lower_);
}

double FloorBand::levelAt(double x) const {
    if (empty()) return 0;
    const auto data = upper_->data();
    auto it = data->findEnd(x, false);
    return it == data->constBegin() ? 0 : (--it)->value;
}

int FloorBand::countAt(double x) const {
    return empty() ? 0 : int(upper_->data()->findEnd(x, false) - upper_->data()->constBegin());
}

void FloorBand::applyTheme(const Theme& theme) {
    fill_ = theme.colour(QStringLiteral("text"));
    fill_.setAlphaF(0.09f);
    words_->setFont(theme.font(8));
    words_->setColor(theme.colour(QStringLiteral("dim")));
    restyle();
}

void FloorBand::restyle() {
    for (QCPGraph* graph : {upper_, lower_}) {
        if (!graph) continue;
        graph->setPen(Qt::NoPen);
        graph->setBrush(fill_);
    }
}

}  // namespace kvasir::ui
