// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QList>

namespace kvasir::ui {

/// Knobs in a row that wraps where the dock is narrow.
class FlowLayout : public QLayout {
 public:
    explicit FlowLayout(QWidget* parent, int gap);
    ~FlowLayout() override;
    void addItem(QLayoutItem* item) override { items_ << item; }
    int count() const override { return int(items_.size()); }
    QLayoutItem* itemAt(int index) const override { return items_.value(index); }
    QLayoutItem* takeAt(int index) override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
    QSize minimumSize() const override;
    QSize sizeHint() const override { return minimumSize(); }
    void setGeometry(const QRect& rect) override;

 private:
    int place(const QRect& rect, bool apply) const;  ///< height used
    QList<QLayoutItem*> items_;
    int gap_;
};

}  // namespace kvasir::ui
