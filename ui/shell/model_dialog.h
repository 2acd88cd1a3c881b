// SPDX-License-Identifier: GPL-3.0-or-later
// What a GGUF file holds and which cache schemes fit it, before it replaces the model.
#pragma once

#include <QDialog>
#include <atomic>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_config.h"

class QFormLayout;
class QLabel;
class QPushButton;
class QTableWidget;
class QVBoxLayout;

namespace kvasir::ui {

struct ModelSummary {
    ModelConfig config;
    uint64_t file_bytes = 0;
    size_t n_tensors = 0;
    std::string tokenizer, chat_template;
    std::vector<std::string> warnings;
};

/// Opens and checks the file without reading its weights. Slow on cold disks: call it off the GUI thread.
Result<ModelSummary> readModelSummary(const std::string& path);

class ModelDialog : public QDialog {
    Q_OBJECT
 public:
    ModelDialog(const QString& path, QWidget* parent);
    ~ModelDialog() override;

 private:
    void show(const Result<ModelSummary>& summary);
    void fillFacts(const ModelSummary& s);
    void fillSchemes(const ModelSummary& s);
    QString asText() const;

    QString path_;
    QLabel *line_, *note_;
    QVBoxLayout* body_;
    QFormLayout *shape_, *reading_;
    QTableWidget* schemes_;
    QPushButton *open_, *copy_;
    std::shared_ptr<std::atomic<bool>> gone_;  ///< tells the hash in the background to stop
};

}  // namespace kvasir::ui
