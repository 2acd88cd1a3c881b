// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_header.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <numeric>
#include <tuple>

#include "ui/shell/chip.h"
#include "ui/shell/icons.h"

namespace kvasir::ui {

namespace {

bool sameNameLine(const LaneHeaderContent& a, const LaneHeaderContent& b) {
    const auto all = [](const LaneHeaderContent& c) {
        return std::tie(c.look.letter, c.look.colour, c.look.hollow, c.name, c.spec, c.reference, c.exact,
                        c.reference_path, c.trouble);
    };
    return all(a) == all(b);
}

}  // namespace

LaneHeader::LaneHeader(QWidget* parent)
    : QWidget(parent), menu_(new QToolButton(this)), chevron_(new QToolButton(this)) {
    menu_->setIcon(icon(QStringLiteral("more"), QStringLiteral("dim")));
    chevron_->setIcon(icon(QStringLiteral("down"), QStringLiteral("dim")));
    for (QToolButton* button : {menu_, chevron_}) {
        button->setPopupMode(QToolButton::InstantPopup);
        button->setAutoRaise(true);
    }
    chevron_->setObjectName(QStringLiteral("lane-figures"));
    auto* figures = new QMenu(chevron_);
    chevron_->setMenu(figures);
    connect(figures, &QMenu::aboutToShow, this, [this, figures] {
        figures->clear();
        const QString all = headerToolTip(content_);
        const auto copies = [this](QAction* action, const QString& text) {
            connect(action, &QAction::triggered, this, [text] { QGuiApplication::clipboard()->setText(text); });
        };
        copies(figures->addAction(icon(QStringLiteral("copy")), tr("Copy all figures")), all);
        figures->addSeparator();
        for (const QString& line : all.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {  // each copies itself
            QString shown = line;
            copies(figures->addAction(shown.replace(QLatin1Char('&'), QLatin1String("&&"))), line);
        }
    });
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    placeButtons();
}

void LaneHeader::setContent(const LaneHeaderContent& content) {
    const bool figures_only = !compact_ && sameNameLine(content, content_);
    content_ = content;
    const QString& letter = content.look.letter;
    menu_->setToolTip(tr("Edit, duplicate, remove or move lane %1").arg(letter));
    menu_->setAccessibleName(tr("Menu of lane %1").arg(letter));
    chevron_->setToolTip(tr("All figures of lane %1").arg(letter));
    chevron_->setAccessibleName(chevron_->toolTip());
    setAccessibleName(tr("Lane %1, %2: %3").arg(letter, content.name, metricsInWords(content)));
    setToolTip(headerToolTip(content));
    placeButtons();
    update(figures_only ? QRect(0, figuresTop(), width(), height() - figuresTop()) : rect());
}

int LaneHeader::figuresTop() const {
    return Theme::instance().px(31);
}

void LaneHeader::setCompact(bool compact) {
    if (compact == compact_) return;
    compact_ = compact;
    placeButtons();
    updateGeometry();
    update();
}

int LaneHeader::heightOf(bool compact) {
    const Theme& theme = Theme::instance();
    const int one = std::max(theme.px(34), QFontMetrics(theme.font(11, true)).height() + theme.px(8));
    if (compact) return one;
    return one + QFontMetrics(theme.font(8)).height() + QFontMetrics(theme.font(9, true)).height() + theme.px(6);
}

QSize LaneHeader::sizeHint() const {
    return {Theme::instance().px(160), heightOf(compact_)};
}

QVector<int> LaneHeader::widthsOf(const QVector<LaneMetric>& metrics) const {
    const QFontMetrics key(Theme::instance().font(8)), value(Theme::instance().font(9, true));
    QVector<int> widths;
    for (const LaneMetric& m : metrics)
        widths << std::max(
            {key.horizontalAdvance(m.key), value.horizontalAdvance(m.widest), value.horizontalAdvance(m.text())});
    return widths;
}

QVector<LaneMetric> LaneHeader::shownMetrics() const {
    if (!content_.trouble.isEmpty()) return {};
    if (compact_) return {shortMetric(content_)};
    const Theme& theme = Theme::instance();
    QVector<LaneMetric> shown = laneMetrics(content_);
    const int room = width() - 2 * theme.px(11);
    while (shown.size() > 1) {
        const QVector<int> widths = widthsOf(shown);
        if (std::accumulate(widths.begin(), widths.end(), 0) + int(shown.size() - 1) * theme.px(7) <= room) break;
        shown.erase(std::max_element(shown.begin(), shown.end(),
                                     [](const LaneMetric& a, const LaneMetric& b) { return a.rank < b.rank; }));
    }
    return shown;
}

void LaneHeader::placeButtons() {
    const int side = Theme::instance().px(24), y = (heightOf(true) - side) / 2;
    const bool rest = content_.trouble.isEmpty() && (compact_ || shownMetrics().size() < laneMetrics(content_).size());
    int x = width() - side - Theme::instance().px(6);
    menu_->setGeometry(x, y, side, side);
    x -= side;
    chevron_->setGeometry(x, y, side, side);
    chevron_->setVisible(rest);
}

int LaneHeader::paintName(QPainter& painter, int y, int right) {
    const Theme& theme = Theme::instance();
    const int side = theme.px(20), pad = theme.px(11);
    paintChip(painter, QRect(pad, y, side, side), content_.look);
    int x = pad + side + theme.px(6);

    QVector<QPair<QString, BadgeKind>> badges;
    if (content_.reference) badges.append({tr("reference"), BadgeKind::filled});
    if (!content_.trouble.isEmpty())
        badges.append({tr("no figures"), BadgeKind::bad});
    else if (!content_.exact && !compact_)
        badges.append({content_.reference_path ? tr("packed, reference kernels") : tr("packed"), BadgeKind::plain});
    const QFontMetrics small(theme.font(8.5));

    painter.setFont(theme.font(11, true));
    painter.setPen(theme.colour(QStringLiteral("text")));
    const QFontMetrics metrics = painter.fontMetrics();
    const QString name = metrics.elidedText(content_.name, Qt::ElideRight, std::max(0, right - x));
    if (name.size() > 1) {  // the chip says who it is where there is no room for words
        painter.drawText(QRect(x, y, right - x, side), Qt::AlignVCenter, name);
        x += metrics.horizontalAdvance(name) + theme.px(8);
    }
    // a spec and badges where the whole name leaves room for them
    int badges_width = 0;
    for (const auto& [word, kind] : badges)
        badges_width += badgeWidth(small, word) + theme.px(6);
    const QFont mono = theme.mono(9);
    const int spec_width = QFontMetrics(mono).horizontalAdvance(content_.spec);
    if (!compact_ && x + spec_width + theme.px(8) + badges_width < right && width() > theme.px(400) &&
        content_.spec != content_.name) {
        painter.setFont(mono);
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QRect(x, y, spec_width + 4, side), Qt::AlignVCenter, content_.spec);
        x += spec_width + theme.px(8);
    }
    painter.setFont(theme.font(8.5));
    for (const auto& [word, kind] : badges) {
        const int w = badgeWidth(small, word);
        if (x + w > right) break;
        paintBadge(painter, QRect(x, y + (side - theme.px(18)) / 2, w, theme.px(18)), word, kind);
        x += w + theme.px(6);
    }
    return x;
}

void LaneHeader::paintShort(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const int y = (heightOf(true) - theme.px(20)) / 2;
    int right = (chevron_->isHidden() ? menu_ : chevron_)->x() - theme.px(4);
    if (content_.trouble.isEmpty()) {
        const LaneMetric m = shortMetric(content_);
        const QFont words = theme.font(9), figure = theme.font(9, true);
        const QFontMetrics words_metrics(words), figure_metrics(figure);
        const QColor dim = theme.colour(QStringLiteral("dim"));
        const auto from_right = [&](const QString& text, const QFont& font, const QFontMetrics& metrics, bool grey) {
            const int w = metrics.horizontalAdvance(text);
            right -= w;
            painter.setFont(font);
            painter.setPen(grey ? dim : theme.colour(QStringLiteral("text")));
            painter.drawText(QRect(right, y, w + 1, theme.px(20)), Qt::AlignVCenter, text);
            right -= theme.px(5);
        };
        from_right(m.beside, words, words_metrics, true);
        from_right(m.value, figure, figure_metrics, m.dim);
        const int pad = theme.px(11) + theme.px(26);
        if (right - words_metrics.horizontalAdvance(m.key) > pad) from_right(m.key, words, words_metrics, true);
    }
    paintName(painter, y, right);
}

void LaneHeader::paintFigures(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const QFont key_font = theme.font(8), value_font = theme.font(9, true), beside_font = theme.font(9);
    const QFontMetrics key_metrics(key_font), value_metrics(value_font);
    const QVector<LaneMetric> figures = shownMetrics();
    const QVector<int> widths = widthsOf(figures);
    const int pad = theme.px(11), room = width() - 2 * pad;
    const int total = std::accumulate(widths.begin(), widths.end(), 0);
    const int gap = std::clamp((room - total) / std::max(1, int(figures.size()) - 1), theme.px(7), theme.px(16));
    int x = pad;
    for (int i = 0; i < int(figures.size()); ++i) {
        const LaneMetric& m = figures[i];
        painter.setFont(key_font);
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QPoint(x, figuresTop() + key_metrics.ascent()), m.key);
        painter.setFont(value_font);
        painter.setPen(theme.colour(m.dim ? QStringLiteral("dim") : QStringLiteral("text")));
        const int line = figuresTop() + key_metrics.height() + value_metrics.ascent();
        painter.drawText(QPoint(x, line), m.value);
        painter.setFont(beside_font);
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QPoint(x + value_metrics.horizontalAdvance(m.value + QLatin1Char(' ')), line), m.beside);
        x += widths[i] + gap;
    }
}

void LaneHeader::paintEvent(QPaintEvent* event) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(QStringLiteral("alt")));
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.colour(QStringLiteral("line")));
    if (compact_) return paintShort(painter);
    if (event->rect().top() < figuresTop())
        paintName(painter, theme.px(8), (chevron_->isHidden() ? menu_ : chevron_)->x() - theme.px(4));
    paintFigures(painter);
}

void LaneHeader::resizeEvent(QResizeEvent*) {
    placeButtons();
}

}  // namespace kvasir::ui
