// SPDX-License-Identifier: GPL-3.0-or-later
// The dock at the left: what will be run.
#pragma once

#include <QScrollArea>
#include <vector>

#include "ui/shell/token_counter.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QSpinBox;
class QVBoxLayout;

namespace kvasir::ui {

class Actions;
class ExperimentEdits;
class LaneList;
class OneLineLabel;
class RunController;

class ExperimentPanel : public QScrollArea {
    Q_OBJECT
 public:
    ExperimentPanel(RunController& controller, ExperimentEdits& edits, Actions& actions, QWidget* parent = nullptr);
    LaneList* lanes() { return lanes_; }

 protected:
    void changeEvent(QEvent* event) override;

 private:
    void addModelSection(QVBoxLayout* column);
    void addTextSection(QVBoxLayout* column, Actions& actions);
    void addLanesSection(QVBoxLayout* column, Actions& actions);
    void addSamplingSection(QVBoxLayout* column);
    void showModel();
    void showExperiment();
    void samplingEdited(const QString& what);

    RunController& controller_;
    ExperimentEdits& edits_;
    std::vector<OneLineLabel*> model_facts_;
    QLabel* text_;
    OneLineLabel *text_tokens_, *text_use_;
    LaneList* lanes_ = nullptr;
    QDoubleSpinBox *temperature_, *top_p_;
    QSpinBox *top_k_, *seed_, *tokens_, *threads_;
    QComboBox* kernels_;
    QCheckBox* noise_floor_ = nullptr;
    TokenCounter counter_;
    bool showing_ = false;
};

}  // namespace kvasir::ui
