// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/row_drag.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

class DropLine : public QWidget {
 public:
    explicit DropLine(QWidget* parent) : QWidget(parent) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setObjectName(QStringLiteral("drop-line"));
        hide();
    }

 protected:
    void paintEvent(QPaintEvent*) override {
        QPainter(this).fillRect(rect(), Theme::instance().colour(QStringLiteral("accent")));
    }
};

}  // namespace

RowDrag::RowDrag(QWidget* list, QVBoxLayout* column)
    : QObject(list), list_(list), column_(column), line_(new DropLine(list)) {}

void RowDrag::watch(QWidget* row) {
    row->setCursor(Qt::OpenHandCursor);
    row->installEventFilter(this);
}

int RowDrag::gapAt(int y) const {
    int gap = 0;
    while (gap < column_->count() && y > column_->itemAt(gap)->geometry().center().y())
        ++gap;
    return gap;
}

void RowDrag::showLine(int gap) {
    const int thickness = 2;
    const bool last = gap == column_->count();
    const QRect row = column_->itemAt(last ? gap - 1 : gap)->geometry();
    const int between = last ? row.bottom() + 1 : row.top() - column_->spacing() / 2;
    line_->setGeometry(row.left(), std::clamp(between - thickness / 2, 0, list_->height() - thickness), row.width(),
                       thickness);
    line_->raise();
    line_->show();
}

void RowDrag::end() {
    if (row_) row_->setCursor(Qt::OpenHandCursor);
    row_ = nullptr;
    dragging_ = false;
    line_->hide();
}

bool RowDrag::eventFilter(QObject* watched, QEvent* event) {
    auto* row = qobject_cast<QWidget*>(watched);
    if (!row) return false;
    const auto* mouse = static_cast<const QMouseEvent*>(event);
    switch (event->type()) {
        case QEvent::MouseButtonPress:
            if (mouse->button() != Qt::LeftButton) return false;
            row_ = row;
            press_ = mouse->position().toPoint();
            return true;  // and so the moves come here
        case QEvent::MouseMove:
            if (row != row_) return false;
            if (!dragging_ &&
                (mouse->position().toPoint() - press_).manhattanLength() < QApplication::startDragDistance())
                return true;
            dragging_ = true;
            row->setCursor(Qt::ClosedHandCursor);
            showLine(gapAt(row->mapTo(list_, mouse->position().toPoint()).y()));
            return true;
        case QEvent::MouseButtonRelease: {
            if (row != row_ || mouse->button() != Qt::LeftButton) return false;
            const int from = column_->indexOf(row);
            const int gap = gapAt(row->mapTo(list_, mouse->position().toPoint()).y());
            const int to = gap > from ? gap - 1 : gap;  // the row itself leaves its place
            const bool was_dragging = dragging_;
            end();
            if (was_dragging && from >= 0 && to != from) emit dropped(from, to);
            return true;
        }
        default:
            return false;
    }
}

}  // namespace kvasir::ui
