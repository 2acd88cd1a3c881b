// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/command_palette.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScrollArea>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/shell/actions.h"
#include "ui/shell/dialog_page.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

QString keysOf(const QAction* action) {
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts())
        keys.append(key.toString(QKeySequence::NativeText));
    return keys.join(QStringLiteral("  "));
}

}  // namespace

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent)
    : QDialog(parent), actions_(actions), search_(new QLineEdit(this)), list_(new QTreeWidget(this)) {
    setWindowTitle(tr("Find a command"));
    resizeOnScreen(*this, QSize(Theme::instance().px(560), Theme::instance().px(420)));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(search_);
    layout->addWidget(list_);
    search_->setPlaceholderText(tr("Words of a command"));
    search_->setAccessibleName(tr("Search commands"));
    search_->installEventFilter(this);
    list_->setAccessibleName(tr("Commands"));
    list_->setColumnCount(3);
    list_->setHeaderHidden(true);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    list_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    list_->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    list_->header()->setStretchLastSection(false);
    connect(search_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(search_, &QLineEdit::returnPressed, this, &CommandPalette::choose);
    connect(list_, &QTreeWidget::itemActivated, this, &CommandPalette::choose);
    filter(QString());
    search_->setFocus();
}

void CommandPalette::filter(const QString& words) {
    list_->clear();
    const QStringList wanted = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const auto holdsAll = [&wanted](const QString& text) {
        for (const QString& word : wanted)
            if (!text.contains(word, Qt::CaseInsensitive)) return false;
        return true;
    };
    // the very words first, then all of them in the name, then with the group, then in the explanation
    const auto rankOf = [&](const QString& group, const QAction* action) {
        const QString name = plainText(action);
        if (name.contains(words.trimmed(), Qt::CaseInsensitive)) return 0;
        if (holdsAll(name)) return 1;
        if (holdsAll(group + QLatin1Char(' ') + name)) return 2;
        return holdsAll(group + QLatin1Char(' ') + name + QLatin1Char(' ') + action->toolTip()) ? 3 : 4;
    };
    for (int rank = 0; rank < 4; ++rank) {
        for (size_t i = 0; i < actions_.all().size(); ++i) {
            const auto& [group, action] = actions_.all()[i];
            if (!action->isVisible() || rankOf(group, action) != rank) continue;
            auto* item = new QTreeWidgetItem(list_, {group, plainText(action), keysOf(action)});
            item->setData(0, Qt::UserRole, int(i));
            item->setDisabled(!action->isEnabled());
            item->setForeground(0, Theme::instance().colour(QStringLiteral("dim")));
            item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
            item->setToolTip(1, action->toolTip());
        }
    }
    if (list_->topLevelItemCount() == 0) {
        auto* none = new QTreeWidgetItem(list_, {QString(), tr("No command has these words"), QString()});
        none->setDisabled(true);
    }
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        if (list_->topLevelItem(i)->isDisabled()) continue;
        list_->setCurrentItem(list_->topLevelItem(i));
        break;
    }
}

void CommandPalette::choose() {
    QTreeWidgetItem* item = list_->currentItem();
    if (!item || item->isDisabled()) return;
    chosen_ = actions_.all()[size_t(item->data(0, Qt::UserRole).toInt())].action;
    accept();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up || key == Qt::Key_PageDown || key == Qt::Key_PageUp) {
            QCoreApplication::sendEvent(list_, event);  // the list moves, the search field keeps the typing
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

ShortcutSheet::ShortcutSheet(const Actions& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keyboard"));
    auto* area = new QScrollArea(this);
    auto* page = new QWidget;
    auto* grid = new QGridLayout(page);
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(3);
    // two columns of groups
    QString group;
    int row = 0, column = 0;
    const auto heading = [&](const QString& text) { grid->addWidget(makeHeading(text), row++, column, 1, 2); };
    const auto line = [&](const QString& text, const QString& keys) {
        grid->addWidget(makeLabel(text, 9), row, column);
        grid->addWidget(makeLabel(keys, 9, Face::mono), row++, column + 1);
    };
    for (const auto& [name, action] : actions.all()) {
        const QString keys = keysOf(action);
        if (keys.isEmpty()) continue;
        if (name != group) {
            if (row > 18) {
                row = 0;
                column += 2;
            }
            group = name;
            heading(group);
        }
        line(plainText(action), keys);
    }
    heading(tr("In a lane"));
    line(tr("Token before, after"), tr("Left, Right"));
    line(tr("Line above, below"), tr("Up, Down"));
    line(tr("First, last token"), tr("Home, End"));
    line(tr("Likely tokens there"), tr("Enter"));
    grid->setRowStretch(grid->rowCount(), 1);
    area->setWidget(page);
    area->setWidgetResizable(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(area);
    resizeOnScreen(*this, QSize(Theme::instance().px(860), Theme::instance().px(560)));
}

}  // namespace kvasir::ui
