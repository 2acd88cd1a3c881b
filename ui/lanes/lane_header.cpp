// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_header.h"

#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <tuple>

#include "ui/shell/format.h"
#include "ui/shell/icons.h"

namespace kvasir::ui {

namespace {
const QString kNone(QChar(0x2013));
}

LaneHeader::LaneHeader(QWidget* parent) : QWidget(parent), menu_(new QToolButton(this)) {
    menu_->setIcon(icon(QStringLiteral("more"), QStringLiteral("dim")));
    menu_->setPopupMode(QToolButton::InstantPopup);
    menu_->setAutoRaise(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LaneHeader::setContent(const Content& content) {
    const auto name_line = [](const Content& c) {
        return std::tie(c.look.letter, c.look.colour, c.look.hollow, c.name, c.spec, c.reference, c.exact,
                        c.reference_path, c.failed);
    };
    const bool figures_only = !compact_ && name_line(content) == name_line(content_);
    content_ = content;
    menu_->setToolTip(tr("Edit, duplicate, remove or move lane %1").arg(content.look.letter));
    menu_->setAccessibleName(tr("Menu of lane %1").arg(content.look.letter));
    QStringList words;
    for (const Metric& m : metrics())
        words.append(m.key + QLatin1Char(' ') + m.text());
    QString tip = QStringLiteral("%1\n%2").arg(content.name, content.spec);
    if (content.insideNoiseFloor()) {
        const QString inside = tr("mean KL %1 is inside the noise floor of %2 nats: the reference moves as much when "
                                  "its sums are taken in "
                                  "another order")
                                   .arg(errorText(content.summary->kl_mean), errorText(content.noise_floor));
        words.append(inside);
        tip += QLatin1Char('\n') + inside;
    } else if (content.measures_floor) {
        tip += QLatin1Char('\n') + noiseFloorSentence();
    }
    setAccessibleName(tr("Lane %1, %2: %3").arg(content.look.letter, content.name, words.join(QStringLiteral(", "))));
    setToolTip(tip);
    update(figures_only ? QRect(0, figuresTop(), width(), height() - figuresTop()) : rect());
}

int LaneHeader::figuresTop() const {
    return Theme::instance().px(31);
}

void LaneHeader::setCompact(bool compact) {
    compact_ = compact;
    updateGeometry();
    update();
}

QSize LaneHeader::sizeHint() const {
    const Theme& theme = Theme::instance();
    const int one = theme.px(34);
    if (compact_) return {theme.px(240), one};
    const int figures = QFontMetrics(theme.font(8)).height() + QFontMetrics(theme.font(9, true)).height();
    return {theme.px(240), one + figures + theme.px(6)};
}

QVector<LaneHeader::Metric> LaneHeader::metrics() const {
    const Content& c = content_;
    const QString nominal = fixedText(c.nominal_bits, 1);
    QVector<Metric> list;
    const bool some = c.summary && c.summary->n_scored > 0;
    const LaneSummary s = some ? *c.summary : LaneSummary();
    QString bits = nominal;
    if (some && !c.exact && s.effective_bits > 0) bits += QStringLiteral(" → ") + fixedText(s.effective_bits, 2);
    list.append({tr("bits / value"), bits, c.exact ? QStringLiteral("16.0") : QStringLiteral("4.5 → 6.79")});
    list.append({tr("MiB"), some ? mibText(s.bytes.total()) : kNone, QStringLiteral("88.88")});
    list.append({tr("tokens / s"), some && s.tokens_per_second > 0 ? fixedText(s.tokens_per_second, 1) : kNone,
                 QStringLiteral("888.8")});
    const QString widest = QStringLiteral("8.8e-04"), kl = some && s.n_comparable > 0 ? errorText(s.kl_mean) : kNone;
    const QString floor = c.noise_floor > 0 ? errorText(c.noise_floor) : kNone;
    if (!c.measures_floor)
        list.append({tr("mean KL"), kl, widest});
    else if (c.reference)  // its own KL is 0
        list.append({tr("noise floor"), floor, widest});
    else
        list.append({tr("mean KL / floor"), kl, widest + QStringLiteral(" / 8.8e-07"), c.insideNoiseFloor(),
                     QStringLiteral("/ ") + floor});
    if (c.reference)
        list.append({tr("perplexity"), some ? fixedText(s.ppl, 2) : kNone, QStringLiteral("888.88")});
    else
        list.append({tr("same top-1"), some && s.n_comparable > 0 ? percentText(s.top1_agreement) : kNone,
                     QStringLiteral("100.0 %")});
    return list;
}

int LaneHeader::paintName(QPainter& painter, int y) {
    const Theme& theme = Theme::instance();
    const int side = theme.px(20), pad = theme.px(11);
    paintChip(painter, QRect(pad, y, side, side), content_.look);
    int x = pad + side + theme.px(6);
    const int right = menu_->x() - theme.px(4);

    QVector<QPair<QString, BadgeKind>> badges;
    if (content_.reference) badges.append({tr("reference"), BadgeKind::filled});
    if (content_.failed)
        badges.append({tr("not running"), BadgeKind::bad});
    else if (!content_.exact)
        badges.append({content_.reference_path ? tr("packed, reference kernels") : tr("packed"), BadgeKind::plain});
    const QFontMetrics small(theme.font(8.5));
    int badges_width = 0;
    for (const auto& [word, kind] : badges)
        badges_width += badgeWidth(small, word) + theme.px(6);

    painter.setFont(theme.font(11, true));
    painter.setPen(theme.colour(QStringLiteral("text")));
    const QString name = painter.fontMetrics().elidedText(content_.name, Qt::ElideRight,
                                                          std::max(theme.px(40), right - x - badges_width));
    painter.drawText(QRect(x, y, right - x, side), Qt::AlignVCenter, name);
    x += painter.fontMetrics().horizontalAdvance(name) + theme.px(8);

    const QFont mono = theme.mono(9);
    const int spec_width = QFontMetrics(mono).horizontalAdvance(content_.spec);
    if (x + spec_width + theme.px(8) + badges_width < right && width() > theme.px(400) &&
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

void LaneHeader::paintEvent(QPaintEvent* event) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(QStringLiteral("alt")));
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.colour(QStringLiteral("line")));
    const auto figures = metrics();
    const QFont key_font = theme.font(8), value_font = theme.font(9, true), beside_font = theme.font(9);
    const QFontMetrics key_metrics(key_font), value_metrics(value_font);
    const int name_end = compact_ || event->rect().top() < figuresTop() ? paintName(painter, theme.px(8)) : 0;
    if (compact_) {
        const QString text = figures[0].value + tr(" bits · KL ") + figures[3].text();
        painter.setFont(theme.font(9));
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QRect(name_end, theme.px(8), menu_->x() - name_end - theme.px(4), theme.px(20)),
                         Qt::AlignVCenter | Qt::AlignRight, text);
        return;
    }
    QVector<int> widths;
    int total = 0;
    for (const Metric& m : figures) {
        widths.append(std::max({key_metrics.horizontalAdvance(m.key), value_metrics.horizontalAdvance(m.widest),
                                value_metrics.horizontalAdvance(m.text())}));
        total += widths.last();
    }
    const int pad = theme.px(11), room = width() - 2 * pad;
    const int gap = std::clamp((room - total) / 4, theme.px(5), theme.px(16));
    int x = pad;
    const int y = figuresTop();
    for (int i = 0; i < figures.size(); ++i) {
        if (x + widths[i] > width() - theme.px(2)) break;
        painter.setFont(key_font);
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QPoint(x, y + key_metrics.ascent()), figures[i].key);
        painter.setFont(value_font);
        painter.setPen(theme.colour(figures[i].dim ? QStringLiteral("dim") : QStringLiteral("text")));
        const int line = y + key_metrics.height() + value_metrics.ascent();
        painter.drawText(QPoint(x, line), figures[i].value);
        painter.setFont(beside_font);
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QPoint(x + value_metrics.horizontalAdvance(figures[i].value + QLatin1Char(' ')), line),
                         figures[i].beside);
        x += widths[i] + gap;
    }
}

void LaneHeader::resizeEvent(QResizeEvent*) {
    const int side = Theme::instance().px(24);
    menu_->setGeometry(width() - side - Theme::instance().px(6), Theme::instance().px(6), side, side);
}

}  // namespace kvasir::ui
