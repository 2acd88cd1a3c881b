// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace kvasir::ui {

FlowLayout::FlowLayout(QWidget* parent, int gap) : QLayout(parent), gap_(gap) {
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
    qDeleteAll(items_);
}

QLayoutItem* FlowLayout::takeAt(int index) {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : items_)
        size = size.expandedTo(item->minimumSize());
    return size;
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    place(rect, true);
}

int FlowLayout::place(const QRect& rect, bool apply) const {
    int y = rect.y();
    for (qsizetype first = 0; first < items_.size();) {
        int x = rect.x(), height = 0;
        qsizetype end = first;
        for (; end < items_.size(); ++end) {  // what fits into this row, at least one
            const QSize size = items_[end]->sizeHint();
            if (end > first && x + size.width() > rect.right() + 1) break;
            x += size.width() + gap_;
            height = std::max(height, size.height());
        }
        x = rect.x();
        for (; first < end; ++first) {
            const QSize size = items_[first]->sizeHint();
            if (apply) items_[first]->setGeometry(QRect(QPoint(x, y + (height - size.height()) / 2), size));
            x += size.width() + gap_;
        }
        y += height + (end < items_.size() ? gap_ : 0);
    }
    return y - rect.y();
}

}  // namespace kvasir::ui
