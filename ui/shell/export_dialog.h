// SPDX-License-Identifier: GPL-3.0-or-later
// Which plot, which format, how large.
#pragma once

#include <QDialog>
#include <vector>

#include "ui/shell/exports.h"

class QComboBox;
class QSpinBox;

namespace kvasir::ui {

class Settings;

class ExportDialog : public QDialog {
    Q_OBJECT
 public:
    ExportDialog(const std::vector<PlotDock*>& docks, const PlotDock* chosen, Settings& settings, QWidget* parent);
    ExportChoice choice() const;
    QString suggestedName() const;

 private:
    void sourceChanged();

    std::vector<PlotDock*> docks_;
    Settings& settings_;
    QComboBox *source_, *format_;
    QSpinBox* scale_;
};

}  // namespace kvasir::ui
