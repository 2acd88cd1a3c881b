// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of a plot as a table: what its CSV export holds.
#pragma once

#include <QAbstractTableModel>
#include <QDialog>
#include <QStringList>
#include <QVector>

class QTableView;

namespace kvasir::ui {

class PlotView;

class CsvTableModel : public QAbstractTableModel {
    Q_OBJECT
 public:
    using QAbstractTableModel::QAbstractTableModel;
    void setCsv(const QByteArray& csv);  ///< header line first

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
    QStringList header_;
    QVector<QStringList> rows_;
};

class DataTable : public QDialog {
    Q_OBJECT
 public:
    DataTable(const QString& title, const PlotView& plot, QWidget* parent = nullptr);

 private:
    void copySelection() const;

    CsvTableModel* model_;
    QTableView* table_;
};

}  // namespace kvasir::ui
