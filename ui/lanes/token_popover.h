// SPDX-License-Identifier: GPL-3.0-or-later
// The likely tokens at one place: the reference beside the lane. Stands near the token, never over it.
#pragma once

#include <QRect>
#include <QToolButton>
#include <QWidget>
#include <memory>

#include "core/session/run_model.h"

namespace kvasir::ui {

class TokenPopover : public QWidget {
    Q_OBJECT
 public:
    explicit TokenPopover(QWidget* window);

    /// `token` in coordinates of the parent; the popover stays inside the parent.
    void showFor(std::shared_ptr<const RunModel> run, int lane, int step, const QRect& token);

 protected:
    void paintEvent(QPaintEvent*) override;
    void leaveEvent(QEvent*) override;

 private:
    QString asText() const;
    static QString note();
    void paintColumn(QPainter& painter, int x, int width, int lane);
    int rowHeight() const;

    std::shared_ptr<const RunModel> run_;  // what is shown stays there while it is shown
    int lane_ = 0, step_ = 0;
    QToolButton* copy_;
};

}  // namespace kvasir::ui
