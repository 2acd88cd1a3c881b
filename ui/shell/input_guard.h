// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and wheel go where a person means them to go: single-key shortcuts do not take keys from the control in focus,
// and the wheel over a field that has no focus scrolls the panel instead of changing the value.
#pragma once

#include <QObject>

namespace kvasir::ui {

class InputGuard : public QObject {
    Q_OBJECT
 public:
    /// Watches the whole application while it lives.
    explicit InputGuard(QObject* parent = nullptr);
    ~InputGuard() override;

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace kvasir::ui
