// SPDX-License-Identifier: GPL-3.0-or-later
// What the tints below the lanes mean. Always there; where it is narrow, as much of it as fits.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/shell/view_state.h"

namespace kvasir::ui {

class TintLegend : public QWidget {
    Q_OBJECT
 public:
    TintLegend(ViewState& view, QWidget* parent);
    void setFreeRunning(bool free_running);  ///< says that there is no tint after the flip
    QSize sizeHint() const override;

 protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent*) override;

 private:
    QString quantity() const;
    QStringList edgeTexts() const;
    QString contextNote() const;
    void updateToolTip();

    ViewState& view_;
    bool free_running_ = false;
};

}  // namespace kvasir::ui
