// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions.h"

#include <QActionGroup>
#include <QWidget>

#include "ui/shell/icons.h"

namespace kvasir::ui {

const std::vector<ActionRow>& Actions::table() {
    static const std::vector<ActionRow> rows = {
        {"run", "Run", "&Run", "F5 Ctrl+R", "run", "Runs all lanes of the experiment", false},
        {"pause", "Run", "&Pause or resume", "Space", "pause", "Holds the run after this token, or goes on", false},
        {"step", "Run", "One &token", "F10 .", "step", "Decodes one token, then pauses", false},
        {"stop", "Run", "&Stop", "Ctrl+.", "stop", "Ends the run; what was measured stays", false},
        {"teacher-forced", "Run", "Teacher-&forced", "Ctrl+T", "",
         "Every lane is given the reference's token: errors compare", true},
        {"free-running", "Run", "Free-r&unning", "Ctrl+Shift+T", "", "Every lane follows its own text", true},
        {"noise-floor", "Run", "Measure the &noise floor", "Ctrl+Shift+N", "",
         "How far the reference moves when its sums are taken in another order: an error below it says nothing", true},
        {"open", "File", "&Open model, text or session ...", "Ctrl+O", "file",
         "Opens a GGUF model, a text or a .kvasir session", false},
        {"save", "File", "&Save session", "Ctrl+S", "", "Saves experiment, results and view as .kvasir", false},
        {"save-as", "File", "Save session &as ...", "Ctrl+Shift+S", "", "Saves the session under another name", false},
        {"last-session", "File", "Reopen &last session", "", "",
         "Brings back what was on screen when Kvasir was closed", false},
        {"export", "File", "&Export a plot or the transcript ...", "Ctrl+E", "export", "PNG, SVG, PDF, CSV or text",
         false},
        {"export-all", "File", "Export a&ll ...", "Ctrl+Shift+E", "export",
         "Every plot in every format, the transcript and the session", false},
        {"quit", "File", "&Quit", "Ctrl+Q", "", "Ends Kvasir", false},
        {"undo", "Edit", "&Undo", "Ctrl+Z", "undo", "Takes back the last change of the experiment", false},
        {"redo", "Edit", "&Redo", "Ctrl+Shift+Z Ctrl+Y", "redo", "Makes it again", false},
        {"edit-text", "Edit", "Edit &text ...", "Ctrl+P", "edit", "Prompt, chat template, what is scored", false},
        {"add-lane", "Edit", "&Add lane ...", "Ctrl+L", "add", "Adds a cache scheme to compare", false},
        {"edit-lane", "Edit", "&Edit lane ...", "F2", "edit", "Cache scheme of the lane in focus", false},
        {"make-equal", "Edit", "&Make the comparison equal", "Ctrl+Shift+M", "equal",
         "Gives all quantized lanes the residual of the first", false},
        {"copy-transcript", "Edit", "&Copy transcript", "Ctrl+Shift+C", "copy",
         "The text of all lanes to the clipboard", false},
        {"follow", "View", "&Follow newest", "F", "follow", "All plots and lanes follow the newest token", false},
        {"tint-kl", "View", "Tint by &KL", "Ctrl+K", "", "Tokens are tinted by KL(fp16||lane)", true},
        {"tint-dp", "View", "Tint by &probability change", "Ctrl+Shift+K", "",
         "Tokens are tinted by the change of their probability", true},
        {"show-prompt", "View", "Show the pro&mpt in the lanes", "P", "prompt",
         "Unfolds the prompt above the scored tokens", true},
        {"layout-explore", "View", "&Explore", "Ctrl+1", "layout", "Experiment, lanes and plots", true},
        {"layout-present", "View", "P&resent", "Ctrl+2", "present", "Large type, lanes and one plot; Esc returns",
         true},
        {"restore-layout", "View", "Restore &default layout", "Ctrl+Shift+0", "layout", "Every dock back to its place",
         false},
        {"next-pane", "View", "&Next pane", "F6", "", "Moves the focus to the next part of the window", false},
        {"previous-pane", "View", "Pre&vious pane", "Shift+F6", "", "Moves the focus to the part before", false},
        {"larger", "View", "&Larger type", "Ctrl++ Ctrl+=", "", "Type 10 % larger", false},
        {"smaller", "View", "&Smaller type", "Ctrl+-", "", "Type 10 % smaller", false},
        {"normal-size", "View", "Type at &100 %", "Ctrl+0", "", "Type at its first size", false},
        {"theme-auto", "View", "Theme: as the &desktop", "", "", "Light or dark as the desktop is", true},
        {"theme-light", "View", "Theme: l&ight", "", "", "Light theme", true},
        {"theme-dark", "View", "Theme: dar&k", "", "", "Dark theme", true},
        {"theme-contrast", "View", "Theme: high &contrast", "", "", "High-contrast theme", true},
        {"theme-next", "View", "Light or dark", "Ctrl+D", "theme", "Switches between light and dark", false},
        {"commands", "Help", "Find a &command ...", "Ctrl+Shift+P", "search", "Every action in one searchable list",
         false},
        {"shortcuts", "Help", "&Keyboard", "F1", "info", "All shortcuts on one page", false},
        {"about", "Help", "&About Kvasir", "", "", "Version and licence", false},
    };
    return rows;
}

Actions::Actions(QWidget* window) : QObject(window), window_(window) {
    for (const ActionRow& row : table()) {
        QAction* action = add(tr(row.group), tr(row.text), QLatin1String(row.icon), {});
        action->setObjectName(QLatin1String(row.id));
        action->setCheckable(row.checkable);
        QList<QKeySequence> keys;
        for (const QString& key : QString::fromLatin1(row.shortcuts).split(QLatin1Char(' '), Qt::SkipEmptyParts))
            keys.append(QKeySequence(key, QKeySequence::PortableText));
        action->setShortcuts(keys);
        QString tip = tr(row.help);
        if (!keys.isEmpty()) tip += QStringLiteral(" (%1)").arg(keys[0].toString(QKeySequence::NativeText));
        action->setToolTip(tip);
        action->setStatusTip(QString());
        by_id_[QLatin1String(row.id)] = action;
    }
    // what excludes each other has radio marks, and a click on the chosen one leaves it chosen
    for (const QStringList& choices : {QStringList{QStringLiteral("teacher-forced"), QStringLiteral("free-running")},
                                       QStringList{QStringLiteral("tint-kl"), QStringLiteral("tint-dp")},
                                       QStringList{QStringLiteral("layout-explore"), QStringLiteral("layout-present")},
                                       QStringList{QStringLiteral("theme-auto"), QStringLiteral("theme-light"),
                                                   QStringLiteral("theme-dark"), QStringLiteral("theme-contrast")}}) {
        auto* group = new QActionGroup(this);
        for (const QString& id : choices)
            group->addAction(by_id_[id]);
    }
}

QAction* Actions::operator[](const char* id) const {
    QAction* action = by_id_.value(QLatin1String(id));
    if (!action) qFatal("kvasir: no action %s", id);
    return action;
}

void Actions::on(const char* id, std::function<void()> run) {
    connect((*this)[id], &QAction::triggered, this, [run = std::move(run)] { run(); });
}

QAction* Actions::add(const QString& group, const QString& text, const QString& icon_name, std::function<void()> run) {
    auto* action = new QAction(text, this);
    if (!icon_name.isEmpty()) action->setIcon(icon(icon_name));
    if (run) connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    window_->addAction(action);
    all_.push_back({group, action});
    return action;
}

QString plainText(const QAction* action) {
    QString text = action->text();
    text.replace(QLatin1String("&&"), QStringLiteral("\x01"));
    text.remove(QLatin1Char('&'));
    return text.replace(QLatin1Char('\x01'), QLatin1Char('&'));
}

}  // namespace kvasir::ui
