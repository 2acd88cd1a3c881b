// SPDX-License-Identifier: GPL-3.0-or-later
// Searchable list of all actions (Ctrl+Shift+P) and the page of shortcuts (F1).
#pragma once

#include <QDialog>

class QLineEdit;
class QTreeWidget;

namespace kvasir::ui {

class Actions;

class CommandPalette : public QDialog {
    Q_OBJECT
 public:
    CommandPalette(const Actions& actions, QWidget* parent);
    /// The action that was chosen; nullptr after Esc. Trigger it when the dialog is gone.
    QAction* chosen() const { return chosen_; }

 protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

 private:
    void filter(const QString& words);
    void choose();

    const Actions& actions_;
    QLineEdit* search_;
    QTreeWidget* list_;
    QAction* chosen_ = nullptr;
};

class ShortcutSheet : public QDialog {
    Q_OBJECT
 public:
    ShortcutSheet(const Actions& actions, QWidget* parent);
};

}  // namespace kvasir::ui
