// SPDX-License-Identifier: GPL-3.0-or-later
// Every action of the window in one table: menus, toolbar, command list and cheat sheet are made from it.
#pragma once

#include <QAction>
#include <QHash>
#include <QObject>
#include <functional>
#include <vector>

namespace kvasir::ui {

struct ActionRow {
    const char* id;
    const char* group;      ///< heading in menus and lists
    const char* text;       ///< with the mnemonic for menus
    const char* shortcuts;  ///< portable text, separated by spaces; "" for none
    const char* icon;       ///< "" for none
    const char* help;       ///< one sentence
    bool checkable;
};

class Actions : public QObject {
    Q_OBJECT
 public:
    static const std::vector<ActionRow>& table();

    /// Makes every action and adds it to `window`, so that its shortcuts work there.
    explicit Actions(QWidget* window);

    QAction* operator[](const char* id) const;
    void on(const char* id, std::function<void()> run);
    /// Actions that are made at run time (show dock, built-in prompt): they stand in the same list.
    QAction* add(const QString& group, const QString& text, const QString& icon, std::function<void()> run);

    struct Listed {
        QString group;
        QAction* action;
    };
    const std::vector<Listed>& all() const { return all_; }

 private:
    QWidget* window_;
    QHash<QString, QAction*> by_id_;
    std::vector<Listed> all_;
};

/// The text without mnemonic marks.
QString plainText(const QAction* action);

}  // namespace kvasir::ui
