// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/plot_dock.h"

#include <QHBoxLayout>
#include <QLabel>

#include "ui/plots/data_table.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

QToolButton* titleButton(QWidget* bar, const QString& icon_name, const QString& tip) {
    auto* button = new QToolButton(bar);
    button->setIcon(icon(icon_name, QStringLiteral("dim")));
    button->setIconSize(QSize(14, 14));
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    return button;
}

QWidget* titleBar(QDockWidget* dock) {
    auto* bar = new QWidget(dock);
    bar->setObjectName(QStringLiteral("titlebar"));
    bar->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 0, 4, 0);
    row->setSpacing(2);
    return bar;
}

}  // namespace

PlotDock::PlotDock(const PlotEntry& entry, PlotView* plot, QWidget* parent)
    : QDockWidget(entry.title, parent),
      entry_(entry),
      plot_(plot),
      bar_(titleBar(this)),
      subtitle_(new OneLineLabel(bar_)) {
    setObjectName(entry.id);
    setWindowTitle(entry.tab);
    toggleViewAction()->setText(entry.title);
    setWidget(plot);

    auto* row = static_cast<QHBoxLayout*>(bar_->layout());
    row->addWidget(makeLabel(entry.title, 10, Face::semibold));
    row->addSpacing(6);
    typeset(subtitle_, 9, Face::regular, QStringLiteral("dim"));
    row->addWidget(subtitle_, 1);
    chip_ = new QToolButton(bar_);
    chip_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip_->setIconSize(QSize(12, 12));
    chip_->setCheckable(true);
    typeset(chip_, 9);
    row->addWidget(chip_);
    table_button_ = titleButton(bar_, QStringLiteral("table"), tr("The numbers as a table"));
    export_button_ = titleButton(bar_, QStringLiteral("export"), tr("Export this plot (Ctrl+E)"));
    float_button_ = titleButton(bar_, QStringLiteral("float"), tr("Own window, or back"));
    close_button_ = titleButton(bar_, QStringLiteral("close"), tr("Close; the View menu shows it again"));
    for (QToolButton* b : {table_button_, export_button_, float_button_, close_button_})
        row->addWidget(b);
    setTitleBarWidget(bar_);

    connect(plot_, &PlotView::followingChanged, this, &PlotDock::updateChip);
    connect(plot_, &PlotView::subtitleChanged, this, [this](const QString& text) { subtitle_->setText(text); });
    connect(chip_, &QToolButton::clicked, this, [this] {
        plot_->setFollowing(!plot_->following());
        updateChip(plot_->following());
    });
    connect(table_button_, &QToolButton::clicked, this, &PlotDock::showTable);
    connect(export_button_, &QToolButton::clicked, this, &PlotDock::exportWanted);
    connect(float_button_, &QToolButton::clicked, this, [this] { setFloating(!isFloating()); });
    connect(close_button_, &QToolButton::clicked, this, &QWidget::close);
    plot_->setToolTip(QString());
    bar_->setToolTip(entry.question);
    updateChip(plot_->following());
}

void PlotDock::updateChip(bool following) {
    chip_->setChecked(!following);
    chip_->setText(following ? tr("Following") : tr("Held"));
    chip_->setIcon(icon(following ? QStringLiteral("follow") : QStringLiteral("held")));
    chip_->setToolTip(following ? tr("Shows the newest tokens; zoom or pan holds it")
                                : tr("Held where you looked; F follows the newest tokens"));
}

void PlotDock::showTable() {
    auto* table = new DataTable(entry_.title, *plot_, window());
    table->setAttribute(Qt::WA_DeleteOnClose);
    table->show();
}

void PlotDock::setCompactTitle(bool compact) {
    table_button_->setVisible(!compact);
    float_button_->setVisible(!compact);
}

void PlotDock::restyle() {
    const Theme& theme = Theme::instance();
    for (QToolButton* button : bar_->findChildren<QToolButton*>())
        button->setIconSize(QSize(theme.px(14), theme.px(14)));
    chip_->setIconSize(QSize(theme.px(12), theme.px(12)));
}

void PlotDock::resizeEvent(QResizeEvent* event) {
    QDockWidget::resizeEvent(event);
    setCompactTitle(window()->width() < Theme::instance().px(1500) && !isFloating());
}

QWidget* makeDockTitle(QDockWidget* dock, const QString& title) {
    QWidget* bar = titleBar(dock);
    auto* row = static_cast<QHBoxLayout*>(bar->layout());
    row->addWidget(makeLabel(title, 10, Face::semibold), 1);
    QToolButton* floating = titleButton(bar, QStringLiteral("float"), QDockWidget::tr("Own window, or back"));
    QToolButton* close =
        titleButton(bar, QStringLiteral("close"), QDockWidget::tr("Close; the View menu shows it again"));
    row->addWidget(floating);
    row->addWidget(close);
    QObject::connect(floating, &QToolButton::clicked, dock, [dock] { dock->setFloating(!dock->isFloating()); });
    QObject::connect(close, &QToolButton::clicked, dock, &QWidget::close);
    return bar;
}

}  // namespace kvasir::ui
