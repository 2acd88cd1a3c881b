// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a column that are put into another order with the mouse.
#pragma once

#include <QObject>
#include <QPoint>
#include <QPointer>
#include <QWidget>

class QVBoxLayout;

namespace kvasir::ui {

/// Watches the rows of `column`, a layout of `list`: a press on a row, where no control takes it, and a move beyond the
/// drag distance show a line between rows; the release says where the row was dropped. Nothing is moved here.
class RowDrag : public QObject {
    Q_OBJECT
 public:
    RowDrag(QWidget* list, QVBoxLayout* column);
    void watch(QWidget* row);
    void end();  ///< nothing is dropped: to be called before rows leave the column

 signals:
    void dropped(int from, int to);  ///< places in the column; `to` is the row's place after the move

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    int gapAt(int y) const;  ///< rows above a height of the list
    void showLine(int gap);

    QWidget* list_;
    QVBoxLayout* column_;
    QWidget* line_;
    QPointer<QWidget> row_;  ///< pressed
    QPoint press_;           ///< in the row
    bool dragging_ = false;
};

}  // namespace kvasir::ui
