// SPDX-License-Identifier: GPL-3.0-or-later
// Dialogs that fit the screen: no larger than it, and what has no room scrolls while the buttons stay in sight.
#pragma once

#include "ui/shell/steady_scroll.h"

class QDialog;
class QVBoxLayout;

namespace kvasir::ui {

/// `wanted`, or what the screen of `dialog` has room for beside a window frame.
void resizeOnScreen(QDialog& dialog, QSize wanted);

/// The part of a dialog that scrolls. The dialog grows with it while the screen has room.
class DialogPage : public SteadyScroll {
    Q_OBJECT
 public:
    explicit DialogPage(QWidget* parent = nullptr);
    QVBoxLayout* column() { return column_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    QVBoxLayout* column_;
};

}  // namespace kvasir::ui
