// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/lane_picker.h"

#include <QButtonGroup>
#include <QToolButton>

#include "ui/plots/flow_layout.h"
#include "ui/plots/plot_text.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

LanePicker::LanePicker(QWidget* parent) : QWidget(parent), buttons_(new QButtonGroup(this)) {
    new FlowLayout(this, 4);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(buttons_, &QButtonGroup::idClicked, this, &LanePicker::chosen);
}

void LanePicker::setLanes(const RunModel& run, bool with_reference) {
    const int before = lane();
    const QList<QAbstractButton*> old = buttons_->buttons();
    for (QAbstractButton* button : old) {
        buttons_->removeButton(button);
        delete button;
    }
    if (run.empty()) return;
    const Experiment& experiment = run.info().experiment;
    for (int i = 0; i < run.n_lanes(); ++i) {
        if (i == experiment.reference && !with_reference) continue;
        if (!experiment.lanes[size_t(i)].enabled || !run.failure(i).empty()) continue;
        auto* button = new QToolButton(this);
        button->setCheckable(true);
        button->setText(Theme::instance().laneOf(experiment, i).letter + QLatin1Char(' ') +
                        laneShortName(experiment.lanes[size_t(i)].spec));
        button->setToolTip(laneName(run, i));
        buttons_->addButton(button, i);
        layout()->addWidget(button);
        button->show();
    }
    QAbstractButton* keep = buttons_->button(before);
    if (!keep && !buttons_->buttons().isEmpty()) keep = buttons_->buttons().constLast();
    if (keep) keep->setChecked(true);
}

QVector<int> LanePicker::lanes() const {
    QVector<int> lanes;
    for (QAbstractButton* button : buttons_->buttons())
        lanes << buttons_->id(button);
    return lanes;
}

void LanePicker::choose(int lane) {
    if (QAbstractButton* button = buttons_->button(lane)) button->setChecked(true);
}

int LanePicker::lane() const {
    return buttons_->checkedId();
}

}  // namespace kvasir::ui
