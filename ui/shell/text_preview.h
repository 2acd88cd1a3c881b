// SPDX-License-Identifier: GPL-3.0-or-later
// The first lines of a text, whole lines only; the last one ends in an ellipsis when there is more, and the tooltip
// shows more of it.
#pragma once

#include <QWidget>

namespace kvasir::ui {

class TextPreview : public QWidget {
    Q_OBJECT
 public:
    explicit TextPreview(int n_lines, QWidget* parent = nullptr);
    void setText(const QString& text);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

 protected:
    void paintEvent(QPaintEvent*) override;
    void changeEvent(QEvent* event) override;

 private:
    QString text_;
    int n_lines_;
};

}  // namespace kvasir::ui
