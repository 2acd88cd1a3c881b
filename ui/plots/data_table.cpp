// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/data_table.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "ui/plots/plot_text.h"
#include "ui/plots/plot_view.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

void CsvTableModel::setCsv(const QByteArray& csv) {
    beginResetModel();
    rows_ = parseCsv(csv);
    header_ = rows_.isEmpty() ? QStringList() : rows_.takeFirst();
    endResetModel();
}

int CsvTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(rows_.size());
}
int CsvTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(header_.size());
}

QVariant CsvTableModel::data(const QModelIndex& index, int role) const {
    const QString cell = rows_.value(index.row()).value(index.column());
    if (role == Qt::DisplayRole) return cell;
    if (role != Qt::TextAlignmentRole) return {};
    bool number = false;
    cell.toDouble(&number);
    return int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

QVariant CsvTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return data(index(0, section), role);  // as its column
    return role == Qt::DisplayRole ? header_.value(section) : QVariant();
}

DataTable::DataTable(const QString& title, const PlotView& plot, QWidget* parent)
    : QDialog(parent), model_(new CsvTableModel(this)), table_(new QTableView) {
    const Theme& theme = Theme::instance();
    setWindowTitle(tr("%1: numbers").arg(title));
    resize(theme.px(880), theme.px(480));
    model_->setCsv(plot.csv());
    table_->setModel(model_);
    table_->setAccessibleName(windowTitle());
    table_->setAlternatingRowColors(true);
    table_->setShowGrid(false);
    table_->setFont(theme.font(9.5));
    table_->verticalHeader()->setDefaultSectionSize(theme.px(24));
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setDefaultSectionSize(theme.px(110));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);

    auto* count = new QLabel(tr("%1 rows, as at opening").arg(countText(model_->rowCount())));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton* copy = buttons->addButton(tr("Copy selected rows"), QDialogButtonBox::ActionRole);
    connect(copy, &QPushButton::clicked, this, &DataTable::copySelection);
    auto* keys = new QShortcut(QKeySequence::Copy, table_);
    keys->setContext(Qt::WidgetShortcut);
    connect(keys, &QShortcut::activated, this, &DataTable::copySelection);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme.px(16), theme.px(16), theme.px(16), theme.px(16));
    column->setSpacing(theme.px(10));
    column->addWidget(table_, 1);
    column->addWidget(count);
    column->addWidget(buttons);
    table_->setFocus();
}

void DataTable::copySelection() const {
    QModelIndexList selected = table_->selectionModel()->selectedRows();
    std::sort(selected.begin(), selected.end());
    QStringList lines;
    const auto line = [&](const std::function<QString(int)>& cell) {
        QStringList cells;
        for (int column = 0; column < model_->columnCount(); ++column)
            cells << cell(column);
        lines << cells.join(QLatin1Char('\t'));
    };
    line([&](int column) { return model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(); });
    for (const QModelIndex& row : selected)
        line([&](int column) { return model_->data(model_->index(row.row(), column), Qt::DisplayRole).toString(); });
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace kvasir::ui
