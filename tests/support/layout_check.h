// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at a window as a person with a ruler would: what is cut, printed over something else, too low or out of reach.
#pragma once

#include <QtWidgets>
#include <algorithm>

#include "support/recorded_text.h"
#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"

namespace kvasir::ui::look {

struct Finding {
    QString rule, where, what;
    QString line() const { return QStringLiteral("%1 | %2 | %3").arg(rule, where, what); }
};
using Findings = QVector<Finding>;

inline QString shortName(const QWidget* widget) {
    QString name = QString::fromLatin1(widget->metaObject()->className()).remove(QStringLiteral("kvasir::ui::"));
    if (!widget->objectName().isEmpty()) name += QLatin1Char('#') + widget->objectName();
    return name;
}

/// The widget and the two named ones above it.
inline QString whereIs(const QWidget* widget) {
    QStringList names;
    for (const QWidget* w = widget; w && names.size() < 3; w = w->parentWidget())
        if (w == widget || !w->objectName().isEmpty()) names.prepend(shortName(w));
    return names.join(QLatin1Char('/'));
}

/// Can a person move `widget` into sight that way; a bar that is not there moves nothing.
inline bool scrolls(const QWidget* widget, Qt::Orientation way) {
    for (const QWidget* w = widget; w && !w->isWindow(); w = w->parentWidget())
        if (const auto* area = qobject_cast<const QAbstractScrollArea*>(w)) {
            const bool down = way == Qt::Vertical;
            const QScrollBar* bar = down ? area->verticalScrollBar() : area->horizontalScrollBar();
            const auto policy = down ? area->verticalScrollBarPolicy() : area->horizontalScrollBarPolicy();
            if (bar->maximum() > bar->minimum() && policy != Qt::ScrollBarAlwaysOff) return true;
        }
    return false;
}

/// Is `ink` in `sight`, or can it be scrolled there.
inline bool reachable(const QWidget* owner, const QRectF& sight, const QRectF& ink) {
    if (sight.isEmpty()) return scrolls(owner, Qt::Vertical) || scrolls(owner, Qt::Horizontal);
    const bool across = ink.left() < sight.left() - 2 || ink.right() > sight.right() + 2;
    const bool down = ink.top() < sight.top() - 2 || ink.bottom() > sight.bottom() + 2;
    return (!across || scrolls(owner, Qt::Horizontal)) && (!down || scrolls(owner, Qt::Vertical));
}

/// Does `widget` tell what begins with `printed`, asked as the mouse asks.
inline bool tells(QWidget* widget, const QPoint& at_in_window, const QString& printed) {
    const QPoint at = widget->mapFrom(widget->window(), at_in_window);
    QHelpEvent question(QEvent::ToolTip, at, widget->mapToGlobal(at));
    static_cast<QObject*>(widget)->event(&question);
    const bool told =
        question.isAccepted() && QToolTip::text().contains(printed.section(QChar(0x2026), 0, 0).trimmed());
    QToolTip::hideText();
    return told;
}

inline bool hasToolTip(QWidget* widget, const QPoint& at_in_window, const QString& printed) {
    if (qobject_cast<Chart*>(widget) || qobject_cast<LaneBody*>(widget)) return tells(widget, at_in_window, printed);
    if (const auto* bar = qobject_cast<QTabBar*>(widget)) {
        const int tab = bar->tabAt(bar->mapFrom(bar->window(), at_in_window));
        return tab >= 0 && !bar->tabToolTip(tab).isEmpty();
    }
    for (QWidget* w = widget; w && !w->isWindow(); w = w->parentWidget())
        if (!w->toolTip().isEmpty()) return true;
    return false;
}

/// Its own words end in an ellipsis: "Open ...".
inline bool ownEllipsis(const QWidget* widget, const QString& printed) {
    const QString own = widget->property("text").toString().remove(QLatin1Char('&'));
    return own.contains(printed);
}

/// Printed by a lane in the text of its tokens, which scrolls; what stands above it does not.
inline bool ofTokens(const PrintedText& text) {
    const auto* body = qobject_cast<const LaneBody*>(text.owner);
    if (!body || !body->hasText()) return false;
    const int top = body->mapTo(body->window(), QPoint(0, body->height() - body->visibleHeight())).y();
    // what is scrolled away is cut off below the line above the text
    return text.clip.isEmpty() || text.clip.top() >= top - 1;
}

inline void checkTexts(QWidget& window, Findings& out) {
    const std::vector<PrintedText> texts = printedTexts(window);
    const QRectF page(QPointF(), window.size());
    const auto inside = [](const QRectF& outer, const QRectF& r) { return outer.adjusted(-2, -2, 2, 2).contains(r); };
    for (const PrintedText& t : texts) {
        QWidget* owner = t.owner;
        if (ofTokens(t) && !t.clip.isEmpty() &&
            (t.ink.left() < t.clip.left() - 2 || t.ink.right() > t.clip.right() + 2))
            out.append({QStringLiteral("cut"), whereIs(owner), t.text});
        if (qobject_cast<QLineEdit*>(owner) || qobject_cast<QAbstractItemView*>(owner->parentWidget()) || ofTokens(t))
            continue;  // they scroll their text
        const QRectF place(owner->mapTo(&window, QPoint()), owner->size());
        if (!inside(place, t.ink))
            out.append({QStringLiteral("cut"), whereIs(owner), t.text});
        else if (!reachable(owner, t.clip, t.ink))
            out.append({QStringLiteral("cut by another"), whereIs(owner), t.text});
        else if (!reachable(owner, page, t.ink))
            out.append({QStringLiteral("outside"), whereIs(owner), t.text});
        if (t.text.contains(QChar(0x2026)) && !ownEllipsis(owner, t.text) &&
            !hasToolTip(owner, t.ink.center().toPoint(), t.text))
            out.append({QStringLiteral("elided without tooltip"), whereIs(owner), t.text});
    }
    for (size_t i = 0; i < texts.size(); ++i)
        for (size_t j = i + 1; j < texts.size(); ++j) {
            const QRectF both = texts[i].ink & texts[j].ink & texts[i].clip & texts[j].clip;
            // tokens of a text stand beside each other without a gap
            const bool one_text = texts[i].owner == texts[j].owner && qobject_cast<LaneBody*>(texts[i].owner);
            if (both.width() < (one_text ? 4 : 1.5) || both.height() < 1.5) continue;
            if (texts[i].text == texts[j].text && texts[i].owner == texts[j].owner &&
                (texts[i].ink.center() - texts[j].ink.center()).manhattanLength() < 2)
                continue;  // a style prints it twice
            out.append({QStringLiteral("printed over"), whereIs(texts[i].owner),
                        texts[i].text + QStringLiteral(" <> ") + texts[j].text});
        }
}

/// Docks behind tabs count as visible, and stand where nobody sees them.
inline bool inSight(const QWidget* widget) {
    return widget->isVisible() && !widget->isWindow() && !widget->visibleRegion().isEmpty();
}

inline void checkWidgets(QWidget& window, Findings& out) {
    QList<QWidget*> all = window.findChildren<QWidget*>();
    all.append(&window);
    for (QWidget* parent : all) {
        if (!parent->isVisible() || qobject_cast<QAbstractSpinBox*>(parent) || qobject_cast<QTabBar*>(parent) ||
            qobject_cast<QComboBox*>(parent) || qobject_cast<QAbstractScrollArea*>(parent))
            continue;
        const QList<QWidget*> children = parent->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
        for (qsizetype i = 0; i < children.size(); ++i)
            for (qsizetype j = i + 1; j < children.size(); ++j) {
                const QWidget *a = children[i], *b = children[j];
                if (!inSight(a) || !inSight(b)) continue;
                const QRect both = a->geometry() & b->geometry();
                if (both.width() > 1 && both.height() > 1)
                    out.append({QStringLiteral("overlap"), whereIs(parent),
                                shortName(a) + QStringLiteral(" <> ") + shortName(b)});
            }
        // a button narrower than its words and frame
        for (const QWidget* child : children)
            if (const auto* button = qobject_cast<const QAbstractButton*>(child);
                button && inSight(button) && !button->text().isEmpty() &&
                (button->width() < button->minimumSizeHint().width() - 1 ||
                 button->height() < button->minimumSizeHint().height() - 1))
                out.append({QStringLiteral("squeezed"), whereIs(button), button->text()});
    }
}

inline void checkPlots(QWidget& window, Findings& out) {
    for (Chart* chart : window.findChildren<Chart*>()) {
        if (!inSight(chart)) continue;
        int in_sight = 0;  // of one plot in a page that scrolls
        for (const QCPAxisRect* axes : chart->axisRects()) {
            if (axes->visible() && axes->height() < 60)
                out.append({QStringLiteral("low plot"), whereIs(chart),
                            QStringLiteral("%1 x %2").arg(axes->width()).arg(axes->height())});
            in_sight = std::max(in_sight, (chart->visibleRegion().boundingRect() & axes->rect()).height());
        }
        if (in_sight < 60)
            out.append({QStringLiteral("low plot"), whereIs(chart), QStringLiteral("%1 in sight").arg(in_sight)});
    }
}

/// In the row itself, or in the menu at its end.
inline void checkToolBar(QWidget& window, Findings& out) {
    for (QToolBar* bar : window.findChildren<QToolBar*>()) {
        QStringList in_menu;
        if (const auto* overflow = bar->findChild<QMenu*>(QStringLiteral("toolbar-overflow")))
            for (const QAction* action : overflow->actions())
                in_menu << action->objectName();
        for (QAction* action : bar->actions()) {
            QWidget* widget = bar->widgetForAction(action);
            if (action->isSeparator() || !widget) continue;
            if (qobject_cast<QToolButton*>(widget) && static_cast<QToolButton*>(widget)->menu() &&
                static_cast<QToolButton*>(widget)->menu()->objectName() == QLatin1String("toolbar-overflow") &&
                in_menu.isEmpty())
                continue;  // everything is in the row
            const bool there = widget->isVisible() && bar->rect().contains(widget->geometry());
            const QStringList instead = widget->property("kvasirInstead").toStringList();
            const bool reachable =
                !instead.isEmpty() &&
                std::all_of(instead.begin(), instead.end(), [&](const QString& id) { return in_menu.contains(id); });
            if (!there && !reachable)
                out.append({QStringLiteral("out of reach"), whereIs(bar),
                            action->text().isEmpty() ? shortName(widget) : action->text()});
        }
    }
}

/// Lines of a lane's tokens that can be read as they stand.
inline int linesInSight(const LaneBody* body, const std::vector<PrintedText>& texts) {
    QSet<int> lines;
    const double top = body->mapTo(body->window(), QPoint(0, body->height() - body->visibleHeight())).y();
    for (const PrintedText& t : texts)
        if (t.owner == body && ofTokens(t) && t.clip.adjusted(-1, -1, 1, 1).contains(t.ink))
            lines.insert(int((t.ink.center().y() - top) / body->lineHeight()));
    return int(lines.size());
}

inline void checkLanes(QWidget& window, Findings& out) {
    const std::vector<PrintedText> texts = printedTexts(window);
    for (LanesView* lanes : window.findChildren<LanesView*>())
        for (LanePane* pane : lanes->panes()) {
            if (!pane->isVisible()) continue;
            const int line = std::max(1, pane->body()->lineHeight());
            if (pane->body()->visibleHeight() < 3 * line)
                out.append({QStringLiteral("lane lines"), whereIs(pane),
                            QStringLiteral("%1 px of %2").arg(pane->body()->visibleHeight()).arg(3 * line)});
            const int wanted = std::min(3, pane->body()->contentHeight() / line);
            if (const int n = linesInSight(pane->body(), texts); pane->body()->hasText() && n < wanted)
                out.append({QStringLiteral("lane lines"), whereIs(pane),
                            QStringLiteral("%1 of %2 printed").arg(n).arg(wanted)});
        }
}

/// Everything that is wrong with the window as it stands.
inline Findings lookAt(QWidget& window) {
    Findings out;
    checkTexts(window, out);
    checkWidgets(window, out);
    checkPlots(window, out);
    checkToolBar(window, out);
    checkLanes(window, out);
    return out;
}

}  // namespace kvasir::ui::look
