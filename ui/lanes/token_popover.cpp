// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/token_popover.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPainter>

#include "ui/shell/chip.h"
#include "ui/shell/figure_words.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {
constexpr int kRows = 5;

QString nameOf(const RunModel& run, int lane) {
    return QString::fromStdString(display_name(run.info().experiment.lanes[size_t(lane)].spec));
}
}  // namespace

TokenPopover::TokenPopover(QWidget* window) : QWidget(window), copy_(new QToolButton(this)) {
    copy_->setText(tr("Copy"));
    copy_->setIcon(icon(QStringLiteral("copy")));
    copy_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    copy_->setFocusPolicy(Qt::NoFocus);
    copy_->setToolTip(tr("Copies these rows as text"));
    connect(copy_, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(asText()); });
    hide();
}

QString TokenPopover::note() {
    return tr("bold: the token that stands there");
}

int TokenPopover::rowHeight() const {
    return QFontMetrics(Theme::instance().mono(9)).height() + Theme::instance().px(4);
}

void TokenPopover::showFor(std::shared_ptr<const RunModel> run, int lane, int step, const QRect& token) {
    if (run->empty() || lane >= run->n_lanes() || step < 0 || step >= int(run->lane(lane).size()) || token.isNull()) {
        hide();
        return;
    }
    run_ = std::move(run);
    lane_ = lane;
    step_ = step;
    const Theme& theme = Theme::instance();
    const bool alone = lane == run_->info().experiment.reference;
    const QRect room = parentWidget()->rect().adjusted(4, 4, -4, -4);
    copy_->adjustSize();
    const int foot = 3 * theme.px(12) + copy_->width() + QFontMetrics(theme.font(8.5)).horizontalAdvance(note());
    const int width = std::min(std::max(alone ? theme.px(230) : theme.px(390), foot), room.width());
    const int height = theme.px(40) + theme.px(24) + kRows * rowHeight() + theme.px(48);
    int x = std::clamp(token.left(), room.left(), std::max(room.left(), room.right() - width));
    int y = token.bottom() + theme.px(6);
    if (y + height > room.bottom()) y = token.top() - theme.px(6) - height;
    if (y < room.top()) {  // neither below nor above: beside
        y = std::max(room.top(), room.bottom() - height);
        x = token.right() + theme.px(8) + width < room.right()
                ? token.right() + theme.px(8)
                : std::max(room.left(), token.left() - theme.px(8) - width);
    }
    setGeometry(x, y, width, height);
    copy_->move(theme.px(8), height - copy_->height() - theme.px(6));
    setAccessibleName(asText());
    show();
    raise();
    update();
}

QString TokenPopover::asText() const {
    if (!run_) return {};
    const int reference = run_->info().experiment.reference;
    const StepRecord& r = run_->lane(lane_)[size_t(step_)];
    QString text = tr("Token %1 \"%2\", %3")
                       .arg(r.position)
                       .arg(tokenText(run_->piece_of(r.token_id)), tokenErrorText(*run_, lane_, r));
    for (const int lane : {reference, lane_}) {
        if (step_ >= int(run_->lane(lane).size())) continue;
        text += QLatin1Char('\n') + nameOf(*run_, lane);
        for (const TopToken& t : run_->lane(lane)[size_t(step_)].top)
            if (t.id >= 0)
                text += QStringLiteral("\n%1\t%2")
                            .arg(tokenText(run_->piece_of(t.id)), fixedText(double(t.probability), 3));
        if (lane_ == reference) break;
    }
    return text;
}

void TokenPopover::paintColumn(QPainter& painter, int x, int width, int lane) {
    const Theme& theme = Theme::instance();
    const LaneLook look = theme.laneOf(run_->info().experiment, lane);
    int y = theme.px(40);
    const int chip = theme.px(16);
    paintChip(painter, QRect(x, y, chip, chip), look);
    painter.setFont(theme.font(9, true));
    painter.setPen(theme.colour(QStringLiteral("text")));
    const QRect name(x + chip + theme.px(6), y, width - chip - theme.px(6), chip);
    painter.drawText(name, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(nameOf(*run_, lane), Qt::ElideRight, name.width()));
    y += theme.px(22);
    if (step_ >= int(run_->lane(lane).size())) return;
    const StepRecord& record = run_->lane(lane)[size_t(step_)];
    const int bar = theme.px(54), figure = QFontMetrics(theme.font(9)).horizontalAdvance(QStringLiteral("0.000"));
    const int bar_x = x + width - figure - theme.px(8) - bar, row = rowHeight();
    for (const TopToken& t : record.top) {
        if (t.id < 0) break;
        QFont mono = theme.mono(9);
        if (t.id == record.token_id) mono.setBold(true);
        painter.setFont(mono);
        painter.setPen(theme.colour(QStringLiteral("text")));
        QString piece = tokenText(run_->piece_of(t.id));
        if (piece.startsWith(QLatin1Char(' '))) piece.remove(0, 1);
        painter.drawText(QRect(x, y, bar_x - x - theme.px(4), row), Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(piece, Qt::ElideRight, bar_x - x - theme.px(4)));
        const QRect whole(bar_x, y + row / 2 - theme.px(4), bar, theme.px(8));
        painter.fillRect(whole, theme.colour(QStringLiteral("grid")));
        painter.fillRect(QRect(whole.topLeft(), QSize(qRound(bar * double(t.probability)), whole.height())),
                         look.colour);
        painter.setFont(theme.font(9));
        painter.setPen(theme.colour(QStringLiteral("dim")));
        painter.drawText(QRect(x + width - figure, y, figure, row), Qt::AlignVCenter | Qt::AlignRight,
                         fixedText(double(t.probability), 3));
        y += row;
    }
}

void TokenPopover::paintEvent(QPaintEvent*) {
    if (!run_ || run_->empty() || lane_ >= run_->n_lanes() || step_ >= int(run_->lane(lane_).size())) return;
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(QStringLiteral("base")));
    painter.setPen(theme.colour(QStringLiteral("text")));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    const StepRecord& r = run_->lane(lane_)[size_t(step_)];
    const int reference = run_->info().experiment.reference, pad = theme.px(12);
    const QRect title(pad, theme.px(8), width() - 2 * pad, theme.px(22));
    painter.setFont(theme.font(9.5, true));
    const QString head = tr("Token %1").arg(r.position);
    painter.drawText(title, Qt::AlignVCenter, head);
    const int x = pad + painter.fontMetrics().horizontalAdvance(head) + theme.px(10);
    painter.setFont(theme.mono(9));
    painter.drawText(QRect(x, title.y(), title.right() - x, title.height()), Qt::AlignVCenter,
                     QStringLiteral("“%1”").arg(tokenText(run_->piece_of(r.token_id)).trimmed()));
    painter.setFont(theme.font(9));
    painter.setPen(theme.colour(QStringLiteral("dim")));
    painter.drawText(title, Qt::AlignVCenter | Qt::AlignRight, tokenErrorText(*run_, lane_, r));
    painter.fillRect(QRect(pad, theme.px(33), width() - 2 * pad, 1), theme.colour(QStringLiteral("line")));
    painter.fillRect(QRect(pad, height() - theme.px(38), width() - 2 * pad, 1), theme.colour(QStringLiteral("line")));
    const int column = lane_ == reference ? width() - 2 * pad : (width() - 2 * pad - theme.px(14)) / 2;
    paintColumn(painter, pad, column, reference);
    if (lane_ != reference) paintColumn(painter, pad + column + theme.px(14), column, lane_);
    painter.setFont(theme.font(8.5));
    painter.setPen(theme.colour(QStringLiteral("dim")));
    const int after_copy = copy_->geometry().right() + pad;
    const QRect foot(after_copy, height() - theme.px(36), width() - pad - after_copy, theme.px(34));
    painter.drawText(foot, Qt::AlignVCenter | Qt::AlignRight,
                     painter.fontMetrics().elidedText(note(), Qt::ElideRight, foot.width()));
}

void TokenPopover::leaveEvent(QEvent*) {
    hide();
}

}  // namespace kvasir::ui
