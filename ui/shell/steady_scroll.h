// SPDX-License-Identifier: GPL-3.0-or-later
// A scroll area for content whose height depends on its width. QScrollArea shows its bar as needed: the bar makes the
// content narrower, and where that makes it lower the bar goes again, in a recursion without end. Here the bar is
// decided once, from the size there is and the width beside a bar.
#pragma once

#include <QScrollArea>

namespace kvasir::ui {

class SteadyScroll : public QScrollArea {
    Q_OBJECT
 public:
    explicit SteadyScroll(QWidget* parent = nullptr);

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

 private:
    void decide();

    bool deciding_ = false;
};

}  // namespace kvasir::ui
