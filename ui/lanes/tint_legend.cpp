// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/tint_legend.h"

#include <QPainter>

#include "ui/lanes/tint.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

TintLegend::TintLegend(ViewState& view, QWidget* parent) : QWidget(parent), view_(view) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setToolTip(tr("Click: tint by KL or by the change of the token's probability (Ctrl+K, Ctrl+Shift+K)"));
    setAccessibleName(tr("Legend of the tints"));
    connect(&view_, &ViewState::errorMeasureChanged, this, qOverload<>(&QWidget::update));
}

void TintLegend::setFreeRunning(bool free_running) {
    free_running_ = free_running;
    update();
}

QSize TintLegend::sizeHint() const {
    return {Theme::instance().px(300), Theme::instance().px(20)};
}

void TintLegend::mousePressEvent(QMouseEvent*) {
    view_.setErrorMeasure(view_.errorMeasure() == ErrorMeasure::kl ? ErrorMeasure::delta_probability
                                                                   : ErrorMeasure::kl);
}

void TintLegend::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setFont(theme.font(8.5));
    const QColor dim = theme.colour(QStringLiteral("dim"));
    int x = theme.px(4);
    const auto word = [&](const QString& text) {
        painter.setPen(dim);
        const int w = painter.fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x, 0, w + 2, height()), Qt::AlignVCenter, text);
        x += w + theme.px(6);
    };
    const bool kl = view_.errorMeasure() == ErrorMeasure::kl;
    word(kl ? tr("KL, nats") : tr("Δp, points"));
    const auto& edges = kl ? kKlEdges : kDpEdges;
    const auto edgeText = [&](double edge) {
        if (!kl) return QString::number(qRound(edge * 100));
        QString text = QString::number(edge);
        return text.startsWith(QLatin1String("0.")) ? text.mid(1) : text;
    };
    for (int level = 0; level <= 5; ++level) {
        const QRect swatch(x, (height() - theme.px(11)) / 2, theme.px(15), theme.px(11));
        painter.fillRect(swatch, theme.tint(level));
        painter.setPen(theme.colour(QStringLiteral("edge")));
        painter.drawRect(swatch);
        x += theme.px(19);
        word(level == 0 ? QLatin1Char('<') + edgeText(edges[0])
                        : (level == 5 ? QStringLiteral("≥") : QString()) + edgeText(edges[size_t(level) - 1]));
    }
    const QString right = free_running_ ? tr("no tint after the first flip: the contexts differ") : tr("┅ other top-1");
    const QString flip = tr("first flip");
    const int flip_width = painter.fontMetrics().horizontalAdvance(flip);
    int r = width() - theme.px(4) - flip_width;
    const int right_width = painter.fontMetrics().horizontalAdvance(right);
    if (r - theme.px(18) < x) return;
    painter.setPen(dim);
    painter.drawText(QRect(r, 0, flip_width + 2, height()), Qt::AlignVCenter, flip);
    r -= theme.px(16);
    painter.drawPixmap(r, (height() - theme.px(12)) / 2,
                       iconPixmap(QStringLiteral("flip"), theme.px(12), dim, devicePixelRatioF()));
    r -= right_width + theme.px(14);
    if (r < x) return;
    painter.drawText(QRect(r, 0, right_width + 2, height()), Qt::AlignVCenter, right);
}

}  // namespace kvasir::ui
