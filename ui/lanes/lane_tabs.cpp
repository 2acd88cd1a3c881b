// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_tabs.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QTabBar>
#include <QToolButton>

#include "ui/shell/chip.h"

namespace kvasir::ui {

namespace {
constexpr int kAroundIcon = 24;  // of a tab, see kvasir.qss: padding, and the gap before its name
}

LaneTabs::LaneTabs(QWidget* parent) : QWidget(parent), bar_(new QTabBar(this)), with_(new QToolButton(this)) {
    bar_->setObjectName(QStringLiteral("lane-tabs"));
    bar_->setAccessibleName(tr("Lanes"));
    bar_->setExpanding(false);
    bar_->setUsesScrollButtons(false);
    bar_->setElideMode(Qt::ElideNone);  // nameTabs() does it
    bar_->setDrawBase(false);
    bar_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    with_->setObjectName(QStringLiteral("lane-beside"));
    with_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    with_->setPopupMode(QToolButton::InstantPopup);
    with_->setToolTip(tr("The lane that stands beside the chosen one"));
    with_->setMenu(new QMenu(with_));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::instance().px(6));
    row->addWidget(bar_, 1);
    row->addWidget(with_);
    connect(bar_, &QTabBar::currentChanged, this, [this] {
        nameTabs();
        emit changed();
    });
    connect(with_->menu(), &QMenu::aboutToShow, this, &LaneTabs::fillMenu);
}

const LaneTabs::Lane* LaneTabs::find(int lane) const {
    for (const Lane& each : lanes_)
        if (each.lane == lane) return &each;
    return nullptr;
}

int LaneTabs::lane() const {
    const int tab = bar_->currentIndex();
    return tab >= 0 && tab < lanes_.size() ? lanes_[tab].lane : -1;
}

void LaneTabs::setLanes(const QVector<Lane>& lanes) {
    const Lane* chosen = find(lane());
    const QString chosen_letter = chosen ? chosen->look.letter : QString();
    const Lane* with = find(beside_);
    const QString with_letter = with ? with->look.letter : QString();
    {
        const QSignalBlocker quiet(bar_);
        lanes_ = lanes;
        while (bar_->count() > lanes_.size())
            bar_->removeTab(bar_->count() - 1);
        while (bar_->count() < lanes_.size())
            bar_->addTab(QString());
        int current = -1;
        beside_ = -1;
        for (int i = 0; i < int(lanes_.size()); ++i) {
            const Lane& each = lanes_[i];
            if (each.look.letter == chosen_letter) current = i;
            if (wants_none_ ? false : with_letter.isEmpty() ? each.reference : each.look.letter == with_letter)
                beside_ = each.lane;
        }
        for (int i = 0; i < int(lanes_.size()) && current < 0; ++i)
            if (!lanes_[i].reference) current = i;
        bar_->setCurrentIndex(std::max(0, current));
    }
    if (!wants_none_ && beside_ < 0)
        for (const Lane& each : lanes_)
            if (each.reference) beside_ = each.lane;
    restyle();
}

void LaneTabs::choose(int lane) {
    for (int i = 0; i < int(lanes_.size()); ++i)
        if (lanes_[i].lane == lane) bar_->setCurrentIndex(i);
}

void LaneTabs::setBesideShown(bool shown) {
    with_->setVisible(shown);
    nameTabs();
}

void LaneTabs::resizeEvent(QResizeEvent*) {
    nameTabs();
}

/// Every tab is in the row: names are elided, and where that leaves nothing to read only the chosen one has a name.
void LaneTabs::nameTabs() {
    const int n = int(lanes_.size());
    if (n == 0) return;
    const int beside = with_->isHidden() ? 0 : with_->sizeHint().width() + layout()->spacing();
    const int room = width() - beside - n * (bar_->iconSize().width() + kAroundIcon);
    const QFontMetrics words(Theme::instance().font(10, true));
    const int each = room / n, least = words.horizontalAdvance(QStringLiteral("Qu…"));
    for (int i = 0; i < n; ++i) {
        const int has = each >= least ? each : i == bar_->currentIndex() ? room : 0;
        bar_->setTabText(i, has < least ? QString() : words.elidedText(lanes_[i].name, Qt::ElideRight, has));
    }
}

void LaneTabs::restyle() {
    const int side = Theme::instance().px(16);
    bar_->setIconSize({side, side});
    for (int i = 0; i < int(lanes_.size()); ++i) {
        const Lane& each = lanes_[i];
        bar_->setTabIcon(i, QIcon(chipPixmap(each.look, side, devicePixelRatioF())));
        bar_->setTabToolTip(i, tr("Lane %1, %2").arg(each.look.letter, each.name));
        bar_->setAccessibleTabName(i, tr("Lane %1, %2").arg(each.look.letter, each.name));
    }
    nameButton();
    nameTabs();
}

void LaneTabs::nameButton() {
    const Lane* with = find(beside_);
    const int side = Theme::instance().px(16);
    with_->setIconSize({side, side});
    with_->setText(tr("beside") + QStringLiteral(" ▾"));
    with_->setIcon(with ? QIcon(chipPixmap(with->look, side, devicePixelRatioF())) : QIcon());
    with_->setAccessibleName(with ? tr("Compare with %1").arg(with->name) : tr("Compare with no other lane"));
    with_->setToolTip(with ? tr("%1 stands beside the chosen lane. Click to compare with another.").arg(with->name)
                           : tr("Compare the chosen lane with another"));
}

void LaneTabs::fillMenu() {
    QMenu* menu = with_->menu();
    menu->clear();
    auto* one = new QActionGroup(menu);
    const auto add = [&](int lane, const QString& name, const QIcon& icon) {
        QAction* action = menu->addAction(icon, name, this, [this, lane] {
            beside_ = lane;
            wants_none_ = lane < 0;
            nameButton();
            emit changed();
        });
        action->setCheckable(true);
        action->setChecked(lane == beside_);
        one->addAction(action);
    };
    for (const Lane& each : lanes_)
        add(each.lane, tr("Compare with %1").arg(each.name),
            QIcon(chipPixmap(each.look, Theme::instance().px(16), devicePixelRatioF())));
    menu->addSeparator();
    add(-1, tr("This lane alone"), {});
}

}  // namespace kvasir::ui
