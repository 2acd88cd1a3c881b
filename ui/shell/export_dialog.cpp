// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/export_dialog.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/shell/settings.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

ExportDialog::ExportDialog(const std::vector<PlotDock*>& docks, const PlotDock* chosen, Settings& settings,
                           QWidget* parent)
    : QDialog(parent),
      docks_(docks),
      settings_(settings),
      source_(new QComboBox),
      format_(new QComboBox),
      scale_(new QSpinBox) {
    setWindowTitle(tr("Export"));
    setMinimumWidth(Theme::instance().px(380));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(10);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(12);
    for (PlotDock* dock : docks_) {
        source_->addItem(dock->plot()->isEmpty() ? tr("%1 (empty)").arg(dock->entry().title) : dock->entry().title);
        if (dock == chosen) source_->setCurrentIndex(source_->count() - 1);
    }
    source_->addItem(tr("Transcript"));
    form->addRow(tr("&What"), source_);
    form->addRow(tr("&Format"), format_);
    scale_->setRange(1, 4);
    scale_->setValue(settings_.get("export/scale").toInt());
    scale_->setSuffix(tr(" × 96 dots per inch"));
    form->addRow(tr("&Size"), scale_);
    column->addLayout(form);
    auto* buttons = new QHBoxLayout;
    auto* cancel = new QPushButton(tr("Cancel"));
    auto* save = new QPushButton(tr("Export …"));
    save->setObjectName(QStringLiteral("primary"));
    save->setDefault(true);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(save);
    column->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(save, &QPushButton::clicked, this, [this] {
        settings_.set("export/format", format_->currentData());
        settings_.set("export/scale", scale_->value());
        accept();
    });
    connect(source_, &QComboBox::currentIndexChanged, this, &ExportDialog::sourceChanged);
    connect(format_, &QComboBox::currentIndexChanged, this,
            [this] { scale_->setEnabled(format_->currentData() == QLatin1String("png")); });
    sourceChanged();
    source_->setFocus();
}

void ExportDialog::sourceChanged() {
    const QString before =
        format_->count() > 0 ? format_->currentData().toString() : settings_.get("export/format").toString();
    format_->clear();
    const bool plot = source_->currentIndex() < int(docks_.size());
    if (plot) {
        format_->addItem(tr("PNG, for screens"), QStringLiteral("png"));
        format_->addItem(tr("SVG, to edit"), QStringLiteral("svg"));
        format_->addItem(tr("PDF, for papers"), QStringLiteral("pdf"));
        format_->addItem(tr("CSV, the numbers"), QStringLiteral("csv"));
    } else {
        format_->addItem(tr("Text"), QStringLiteral("txt"));
        format_->addItem(tr("CSV, one line per lane and token"), QStringLiteral("csv"));
    }
    format_->setCurrentIndex(std::max(0, format_->findData(before)));
}

ExportChoice ExportDialog::choice() const {
    const size_t source = size_t(source_->currentIndex());
    return {source < docks_.size() ? docks_[source] : nullptr, format_->currentData().toString(), scale_->value()};
}

QString ExportDialog::suggestedName() const {
    const ExportChoice c = choice();
    return QStringLiteral("%1.%2").arg(c.dock ? c.dock->entry().id : QStringLiteral("transcript"), c.format);
}

}  // namespace kvasir::ui
