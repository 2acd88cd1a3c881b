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
class TextPreview;

class ExperimentPanel : public QScrollArea {
    Q_OBJECT
 public:
    ExperimentPanel(RunController& controller, ExperimentEdits& edits, Actions& actions, QWidget* parent = nullptr);
    LaneList* lanes() { return lanes_; }
    void showSection(int section);           ///< 0 model, 1 text, 2 lanes, 3 sampling
    QSize minimumSizeHint() const override;  ///< wide enough for all of its words: it scrolls up and down only

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    QLabel* addHeading(const QString& text);
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
    std::vector<QLabel*> headings_;
    TextPreview* text_;
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
