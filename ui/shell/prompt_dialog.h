// SPDX-License-Identifier: GPL-3.0-or-later
// Editor of the text: continued as a prompt, or scored token by token.
#pragma once

#include <QDialog>
#include <QTimer>
#include <memory>

#include "core/model/model.h"
#include "core/session/experiment.h"
#include "ui/shell/token_counter.h"

class QButtonGroup;
class QCheckBox;
class QFormLayout;
class QLabel;
class QPlainTextEdit;
class QSpinBox;

namespace kvasir::ui {

class PromptDialog : public QDialog {
    Q_OBJECT
 public:
    PromptDialog(const Experiment& experiment, std::shared_ptr<const Model> model, QWidget* parent);
    Experiment experiment() const;  ///< with what the fields say

 private:
    void countTokens();
    void showCount(int n);
    void modeChanged();

    Experiment experiment_;
    std::shared_ptr<const Model> model_;
    QPlainTextEdit* text_;
    QButtonGroup* use_;
    QCheckBox* chat_;
    QSpinBox *tokens_, *prefill_;
    QFormLayout* form_ = nullptr;
    QLabel *tokens_label_, *count_;
    QTimer count_timer_;
    TokenCounter counter_;
};

}  // namespace kvasir::ui
