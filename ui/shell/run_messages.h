// SPDX-License-Identifier: GPL-3.0-or-later
// What has to be said about the model and the run that is shown: what the file asks for and is not done, why it failed,
// which lanes stopped or run otherwise than asked, what is unequal, that the experiment or the model's file has changed
// since. Each sentence leaves with its cause.
#pragma once

#include <QObject>
#include <cstdint>

namespace kvasir::ui {

class Actions;
class MessageArea;
class RunController;

class RunMessages : public QObject {
    Q_OBJECT
 public:
    RunMessages(RunController& controller, Actions& actions, MessageArea& messages, QObject* parent);

 private:
    void runBegan();
    void statusChanged();
    void experimentChanged();
    void modelChanged();
    void showUnequal();
    void showOtherModel();

    RunController& controller_;
    Actions& actions_;
    MessageArea& messages_;
    int n_failures_ = 0;         ///< of the engine, as far as they have been said
    uint64_t finished_run_ = 0;  ///< serial of the newest run that went to its end
};

}  // namespace kvasir::ui
