// SPDX-License-Identifier: GPL-3.0-or-later
// Editor of one lane's cache scheme, made from the registry: a preset, one field per option, and the text form.
#pragma once

#include <QDialog>
#include <memory>

#include "core/cache/cache_spec.h"
#include "core/model/model_config.h"
#include "ui/shell/theme.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace kvasir::ui {

class SchemeDialog : public QDialog {
    Q_OBJECT
 public:
    /// `config`: shape of the model the scheme must fit; nullptr when none is loaded. `look`: the lane's.
    SchemeDialog(const CacheSpec& spec, const ModelConfig* config, const LaneLook& look, bool new_lane,
                 QWidget* parent);
    const CacheSpec& spec() const { return spec_; }  ///< the last valid one

 private:
    QWidget* makeFacts();
    void choosePreset(int index);
    void rebuildFields();
    void fieldChanged();
    void textChanged(const QString& text);
    void showProblem(const QString& sentence);
    void showFacts();

    CacheSpec spec_;
    std::unique_ptr<ModelConfig> config_;
    QComboBox* preset_;
    QFormLayout* fields_;
    QLineEdit* text_;
    QLabel *origin_, *long_form_, *sign_, *problem_;
    QLabel *bits_, *bytes_, *bytes_note_, *context_, *context_note_;
    QPushButton* apply_;
    bool adjusting_ = false;
};

}  // namespace kvasir::ui
