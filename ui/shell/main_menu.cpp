// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_menu.h"

#include <QCoreApplication>
#include <QMenuBar>

#include "ui/shell/actions.h"

namespace kvasir::ui {

namespace {

struct Group {
    const char *name, *title;
};
constexpr Group kGroups[] = {{"File", QT_TRANSLATE_NOOP("MainMenu", "&File")},
                             {"Edit", QT_TRANSLATE_NOOP("MainMenu", "&Edit")},
                             {"View", QT_TRANSLATE_NOOP("MainMenu", "&View")},
                             {"Run", QT_TRANSLATE_NOOP("MainMenu", "&Run")},
                             {"Help", QT_TRANSLATE_NOOP("MainMenu", "&Help")}};

/// Actions that begin another subject of their menu.
constexpr const char* kBegins[] = {"save",       "last-session",   "export",    "quit",        "edit-text",
                                   "tint-kl",    "layout-explore", "next-pane", "larger",      "theme-auto",
                                   "theme-next", "teacher-forced", "shortcuts", "noise-floor", "copy-transcript"};

}  // namespace

void fillMenuBar(QMenuBar& bar, const Actions& actions) {
    for (const Group& group : kGroups) {
        QMenu* menu = bar.addMenu(QCoreApplication::translate("MainMenu", group.title));
        menu->setObjectName(QStringLiteral("menu-") + QLatin1String(group.name));
        menu->setToolTipsVisible(true);
        for (const ActionRow& row : Actions::table()) {
            if (qstrcmp(row.group, group.name) != 0) continue;
            for (const char* begins : kBegins)
                if (qstrcmp(begins, row.id) == 0 && !menu->isEmpty()) menu->addSeparator();
            menu->addAction(actions[row.id]);
        }
    }
}

QMenu* menuOf(const QMenuBar& bar, const char* group) {
    return bar.findChild<QMenu*>(QStringLiteral("menu-") + QLatin1String(group));
}

}  // namespace kvasir::ui
