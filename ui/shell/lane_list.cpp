// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/lane_list.h"

#include <QApplication>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/chip.h"
#include "ui/shell/experiment_edits.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/row_drag.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {
constexpr char kLane[] = "kvasirLane";
}

LaneList::LaneList(RunController& controller, ExperimentEdits& edits, QWidget* parent)
    : QWidget(parent),
      controller_(controller),
      edits_(edits),
      column_(new QVBoxLayout(this)),
      drag_(new RowDrag(this, column_)) {
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(2);
    // later, because a row's own check box may be what changed the experiment
    connect(&controller_, &RunController::experimentChanged, this,
            [this] { QTimer::singleShot(0, this, &LaneList::rebuild); });
    connect(&controller_, &RunController::modelChanged, this, &LaneList::rebuild);
    connect(drag_, &RowDrag::dropped, this, [this](int from, int to) { edits_.moveLane(from, to - from); });
    rebuild();
}

void LaneList::setHiddenTest(std::function<bool(int lane)> hidden) {
    hidden_ = std::move(hidden);
    rebuild();
}

void LaneList::rebuild() {
    const int focus = focusedLane();
    drag_->end();  // the mouse may go on moving in a row that has left the list
    while (QLayoutItem* item = column_->takeAt(0)) {
        QWidget* row = item->widget();  // its menu or check box may have asked for this
        row->hide();
        row->setParent(nullptr);
        row->deleteLater();
        delete item;
    }
    for (int i = 0; i < int(controller_.experiment().lanes.size()); ++i)
        column_->addWidget(makeRow(i));
    if (focus < 0 || column_->count() == 0) return;
    QWidget* row = column_->itemAt(std::min(focus, column_->count() - 1))->widget();
    row->findChild<QCheckBox*>()->setFocus();
}

QWidget* LaneList::makeRow(int lane) {
    const Experiment& experiment = controller_.experiment();
    const LaneSetup& setup = experiment.lanes[size_t(lane)];
    const bool reference = lane == experiment.reference;
    const LaneLook look = Theme::instance().laneOf(experiment, lane);
    const QString name = QString::fromStdString(display_name(setup.spec));
    auto* row = new QWidget(this);
    row->setProperty(kLane, lane);
    row->setObjectName(QStringLiteral("lane-row-%1").arg(lane));
    drag_->watch(row);
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(7);
    auto* used = new QCheckBox(row);
    used->setCursor(Qt::ArrowCursor);
    used->setObjectName(QStringLiteral("lane-used-%1").arg(lane));
    used->setChecked(setup.enabled || reference);
    used->setEnabled(!reference);
    used->setToolTip(reference ? tr("Errors are measured against this lane: it always runs")
                               : tr("Run this lane. Enter edits it, Alt+Up and Alt+Down or the mouse move it, Delete "
                                    "removes it."));
    used->setAccessibleName(tr("Lane %1, %2").arg(look.letter, name));
    used->installEventFilter(this);
    connect(used, &QCheckBox::toggled, this, [this, lane](bool on) { edits_.enableLane(lane, on); });
    auto* chip = new ChipWidget(row);
    chip->setLook(look);
    auto* label = new OneLineLabel(row);
    label->setText(name);
    typeset(label, 10, reference ? Face::semibold : Face::regular);
    label->setToolTip(tr("%1\n%2\nDrag to move the lane").arg(name, QString::fromStdString(long_spec(setup.spec))));
    const auto model = controller_.model();
    const int head_dim = model ? model->config().head_dim : 64, n_layers = model ? model->config().n_layers : 0;
    auto* bits =
        makeLabel(reference ? tr("reference") : fixedText(nominal_bits_per_value(setup.spec, head_dim, n_layers), 1), 9,
                  Face::regular, QStringLiteral("dim"));
    bits->setToolTip(tr("nominal bits per value"));
    auto* more = new QToolButton(row);
    more->setIcon(icon(QStringLiteral("more"), QStringLiteral("dim")));
    more->setAutoRaise(true);
    more->setCursor(Qt::ArrowCursor);
    more->setPopupMode(QToolButton::InstantPopup);
    more->setToolTip(tr("Edit, duplicate, remove or move lane %1").arg(look.letter));
    more->setAccessibleName(tr("Menu of lane %1").arg(look.letter));
    auto* menu = new QMenu(more);
    more->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu, lane] {
        menu->clear();
        emit menuWanted(lane, menu);
    });
    line->addWidget(used);
    line->addWidget(chip);
    line->addWidget(label, 1);
    if (hidden_ && hidden_(lane)) {
        auto* show = new QToolButton(row);
        show->setObjectName(QStringLiteral("lane-hidden-%1").arg(lane));
        show->setText(tr("hidden"));
        typeset(show, 9, Face::regular, QStringLiteral("dim"));
        show->setCursor(Qt::ArrowCursor);
        show->setToolTip(tr("Lane %1 is hidden in lanes and plots; a click shows it again").arg(look.letter));
        show->setAccessibleName(show->toolTip());
        connect(show, &QToolButton::clicked, this, [this, lane] { emit showWanted(lane); });
        line->addWidget(show);
        bits->hide();  // there is no room for both
    }
    line->addWidget(bits);
    line->addWidget(more);
    return row;
}

int LaneList::focusedLane() const {
    for (QWidget* w = QApplication::focusWidget(); w && w != this; w = w->parentWidget())
        if (w->parentWidget() == this) return w->property(kLane).toInt();
    return -1;
}

bool LaneList::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const int lane = focusedLane();
    if (lane < 0) return false;
    if (key->modifiers() == Qt::AltModifier && (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down)) {
        edits_.moveLane(lane, key->key() == Qt::Key_Up ? -1 : 1);
    } else if (key->key() == Qt::Key_Delete) {
        edits_.removeLane(lane);
    } else if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
        emit editWanted(lane);
    } else {
        return false;
    }
    return true;
}

}  // namespace kvasir::ui
