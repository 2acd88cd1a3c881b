// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <functional>
#include <memory>

namespace kvasir::ui {

/// Qt passes no exception through its event loop. What a slot or a painter has no memory for ends here: its event is
/// given up, and `act` says so and ends what takes memory.
class Application : public QApplication {
    Q_OBJECT
 public:
    Application(int& argc, char** argv);
    void whenMemoryRunsOut(std::function<void()> act) { act_ = std::move(act); }
    bool notify(QObject* receiver, QEvent* event) override;

 private:
    void giveUp();

    std::function<void()> act_;
    std::unique_ptr<char[]> reserve_;  ///< for `act`
};

}  // namespace kvasir::ui
