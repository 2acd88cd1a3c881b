// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <functional>

namespace kvasir::ui {

/// SIGTERM, SIGINT and SIGHUP call `quit` in the event loop, once; the same signal again ends the program at once. One
/// that was ignored when the program started (nohup) stays so. SIGXFSZ and SIGPIPE become errors of the write.
class QuitSignals : public QObject {
    Q_OBJECT
 public:
    explicit QuitSignals(std::function<void()> quit, QObject* parent = nullptr);
    ~QuitSignals() override;

 private:
    std::function<void()> quit_;
};

}  // namespace kvasir::ui
