// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/tint_legend.h"

#include <QPainter>

#include "ui/lanes/tint.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

TintLegend::TintLegend(ViewState& view, QWidget* parent) : QWidget(parent), view_(view) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Legend of the tints"));
    updateToolTip();
    connect(&view_, &ViewState::errorMeasureChanged, this, [this] {
        updateToolTip();
        update();
    });
}

void TintLegend::setFreeRunning(bool free_running) {
    free_running_ = free_running;
    updateToolTip();
    update();
}

QSize TintLegend::sizeHint() const {
    return {Theme::instance().px(300), Theme::instance().px(20)};
}

void TintLegend::mousePressEvent(QMouseEvent*) {
    view_.setErrorMeasure(view_.errorMeasure() == ErrorMeasure::kl ? ErrorMeasure::delta_probability
                                                                   : ErrorMeasure::kl);
}

QString TintLegend::quantity() const {
    return view_.errorMeasure() == ErrorMeasure::kl ? tr("KL, nats") : tr("Δp, points");
}

/// What stands behind each of the six colours.
QStringList TintLegend::edgeTexts() const {
    const bool kl = view_.errorMeasure() == ErrorMeasure::kl;
    const auto& edges = kl ? kKlEdges : kDpEdges;
    const auto text = [&](double edge) {
        if (!kl) return QString::number(qRound(edge * 100));
        QString text = QString::number(edge);
        return text.startsWith(QLatin1String("0.")) ? text.mid(1) : text;
    };
    QStringList texts{QLatin1Char('<') + text(edges[0])};
    for (size_t i = 0; i < edges.size(); ++i)
        texts << (i + 1 == edges.size() ? QStringLiteral("≥") : QString()) + text(edges[i]);
    return texts;
}

QString TintLegend::contextNote() const {
    return free_running_ ? tr("no tint after the first flip: the contexts differ") : tr("┅ other top-1");
}

void TintLegend::updateToolTip() {
    setToolTip(quantity() + QStringLiteral(": ") + edgeTexts().join(QStringLiteral(" · ")) + QLatin1Char('\n') +
               contextNote() + QLatin1Char('\n') +
               tr("Click: tint by KL or by the change of the token's probability (Ctrl+K, Ctrl+Shift+K)"));
}

/// Where room is short the words on the right leave first, then the figures between the ends of the scale, then the
/// quantity's name; the tooltip has them all.
void TintLegend::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setFont(theme.font(8.5));
    const QFontMetrics metrics = painter.fontMetrics();
    const QColor dim = theme.colour(QStringLiteral("dim"));
    const int gap = theme.px(6), swatch_step = theme.px(19), edge = theme.px(4);
    const QStringList figures = edgeTexts();
    const auto scaleWidth = [&](bool between) {
        int w = int(figures.size()) * swatch_step;
        for (qsizetype i = 0; i < figures.size(); ++i)
            if (between || i == 0 || i + 1 == figures.size()) w += metrics.horizontalAdvance(figures[i]) + gap;
        return w;
    };
    const int room = width() - 2 * edge, name_width = metrics.horizontalAdvance(quantity()) + gap;
    const bool between = name_width + scaleWidth(true) - gap <= room;
    int x = edge;
    const auto word = [&](const QString& text) {
        const int w = metrics.horizontalAdvance(text);
        painter.setPen(dim);
        painter.drawText(QRect(x, 0, w + 2, height()), Qt::AlignVCenter, text);
        x += w + gap;
    };
    if (name_width + scaleWidth(between) - gap <= room) word(quantity());
    for (int level = 0; level < int(figures.size()); ++level) {
        const QRect swatch(x, (height() - theme.px(11)) / 2, theme.px(15), theme.px(11));
        painter.fillRect(swatch, theme.tint(level));
        painter.setPen(theme.colour(QStringLiteral("edge")));
        painter.drawRect(swatch);
        x += swatch_step;
        if (between || level == 0 || level + 1 == int(figures.size())) word(figures[level]);
    }
    const QString flip = tr("first flip");
    const int flip_width = metrics.horizontalAdvance(flip);
    int r = width() - edge - flip_width;
    if (r - theme.px(18) < x) return;
    painter.setPen(dim);
    painter.drawText(QRect(r, 0, flip_width + 2, height()), Qt::AlignVCenter, flip);
    r -= theme.px(16);
    painter.drawPixmap(r, (height() - theme.px(12)) / 2,
                       iconPixmap(QStringLiteral("flip"), theme.px(12), dim, devicePixelRatioF()));
    const int note_width = metrics.horizontalAdvance(contextNote());
    r -= note_width + theme.px(14);
    if (r < x) return;
    painter.drawText(QRect(r, 0, note_width + 2, height()), Qt::AlignVCenter, contextNote());
}

}  // namespace kvasir::ui
