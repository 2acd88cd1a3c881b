// SPDX-License-Identifier: GPL-3.0-or-later
// The status bar: what the engine does, how far it is and how long it takes, and what it computes with. It is always
// there, whatever the size of the window. The noise floor has a bar of its own.
#pragma once

#include <QObject>

class QProgressBar;
class QStatusBar;

namespace kvasir {
struct EngineStatus;
}

namespace kvasir::ui {

class OneLineLabel;
class RunController;

class RunStatus : public QObject {
    Q_OBJECT
 public:
    RunStatus(RunController& controller, QStatusBar& bar);

    void show();  ///< what the engine does, as of the controller
    void show(const EngineStatus& status);
    void say(const QString& sentence);  ///< until the engine does something else
    void restyle();
    QString text() const;

 private:
    QString sentence(const EngineStatus& s) const;
    void showProgress(const EngineStatus& s);
    void showFacts();

    RunController& controller_;
    OneLineLabel *text_, *facts_;
    QProgressBar *progress_, *floor_;
    int n_old_failures_ = 0;  ///< of the engine, until the experiment was changed
};

}  // namespace kvasir::ui
