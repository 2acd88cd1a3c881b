// SPDX-License-Identifier: GPL-3.0-or-later
// How a lane's text is drawn.
#include <QAbstractTextDocumentLayout>
#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QPainterPath>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/lanes/lane_body.h"
#include "ui/lanes/lanes_shape.h"
#include "ui/shell/format.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

std::unique_ptr<QTextDocument> noteDocument(const QString& rich, bool bad, int width) {
    const Theme& theme = Theme::instance();
    auto document = std::make_unique<QTextDocument>();
    document->setDefaultFont(theme.font(10));
    document->setDefaultStyleSheet(QStringLiteral("p { color: %1; }")
                                       .arg(theme.colour(bad ? QStringLiteral("bad") : QStringLiteral("dim")).name()));
    document->setHtml(QStringLiteral("<p>%1</p>").arg(rich));
    document->setTextWidth(width);
    return document;
}

}  // namespace

/// Of a note above text: a note alone has the whole pane. Where it would leave less than three lines of text it stands
/// in the one line above them.
int LaneBody::noteHeight() const {
    if (note_.isEmpty() || marks_.empty()) return 0;
    const int whole = int(noteDocument(note_, note_bad_, width() - 2 * Theme::instance().px(11))->size().height());
    return height() - leastHeadHeight() - whole >= kLeastLines * lineHeight() ? whole : 0;
}

bool LaneBody::noteInStrip() const {
    return !note_.isEmpty() && !marks_.empty() && noteHeight() == 0;
}

/// As many whole lines as there is room for, and an ellipsis behind the last one when there are more.
void LaneBody::paintNote(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const int pad = theme.px(11), top = theme.px(10);
    const auto document = noteDocument(note_, note_bad_, width() - 2 * pad);
    const double room = marks_.empty() ? height() - top : noteHeight();
    QRectF last;
    const QTextBlock block = document->firstBlock();
    const QPointF at = document->documentLayout()->blockBoundingRect(block).topLeft();
    for (int i = 0; i < block.layout()->lineCount(); ++i) {
        const QRectF line = block.layout()->lineAt(i).rect().translated(at);
        if (i > 0 && line.bottom() > room) break;
        last = line;
    }
    const bool cut = document->size().height() > room && last.bottom() < document->size().height() - 2 * at.y() - 1;
    painter.save();
    painter.translate(pad - 4, top);
    painter.save();
    const double dots = QFontMetricsF(document->defaultFont()).horizontalAdvance(QChar(0x2026));
    QRegion lines(QRectF(0, 0, width(), last.bottom()).toAlignedRect());
    if (cut) lines -= QRectF(last.right() - dots, last.top(), width(), last.height()).toAlignedRect();
    painter.setClipRegion(lines);
    document->drawContents(&painter);
    painter.restore();
    if (cut) {
        painter.setFont(document->defaultFont());
        painter.setPen(theme.colour(note_bad_ ? QStringLiteral("bad") : QStringLiteral("dim")));
        painter.drawText(QRectF(last.right() - dots, last.top(), dots + 2, last.height()), Qt::AlignVCenter,
                         QString(QChar(0x2026)));
    }
    painter.restore();
}

QString LaneBody::tipAt(const QPoint& at) const {
    const auto plainNote = [this] { return QTextDocumentFragment::fromHtml(note_).toPlainText(); };
    const int width_of_text = width() - 2 * Theme::instance().px(11);
    if (marks_.empty() && !note_.isEmpty()) {
        const double whole = noteDocument(note_, note_bad_, width_of_text)->size().height();
        return whole > height() - Theme::instance().px(10) ? plainNote() : QString();
    }
    if (at.y() < noteHeight() || at.y() >= stripHeight()) return {};
    bool is_flip = false;
    const QString strip = stripText(&is_flip);
    return QFontMetrics(Theme::instance().font(9)).horizontalAdvance(strip) > width_of_text ? strip : QString();
}

bool LaneBody::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tipAt(help->pos());
    QToolTip::showText(help->globalPos(), tip, this);
    event->setAccepted(!tip.isEmpty());
    return true;
}

/// One line above the text that never moves: the prompt at the top; else the first flip when it is out of sight, or
/// the number of the first token in sight.
QString LaneBody::stripText(bool* is_flip) const {
    *is_flip = false;
    if (!run_ || run_->empty()) return {};
    if (noteInStrip()) return QTextDocumentFragment::fromHtml(note_).toPlainText();
    const int n_prompt = int(run_->info().prompt_ids.size());
    const double top = scroll_, bottom = scroll_ + visibleHeight();
    if (first_flip_ >= 0) {
        const QRectF flip = flow_.rectOf(first_flip_ + promptTokens());
        const bool above = flip.bottom() <= top + 1, below = flip.top() >= bottom - 1;
        if (above || below) {
            *is_flip = true;
            const int position = run_->lane(lane_)[size_t(first_flip_)].position;
            return QStringLiteral("%1 ").arg(above ? QChar(0x25B4) : QChar(0x25BE)) +
                   tr("first flip at token %1, margin %2").arg(position).arg(fixedText(double(flip_margin_), 2));
        }
    }
    if (scroll_ > 0 && !marks_.empty()) {
        const auto [first, last] = flow_.lineRange(std::min(int(top / flow_.lineHeight()), flow_.lineCount() - 1));
        if (first < last) {
            const int step = flow_.fragments()[first].token - promptTokens();
            return QStringLiteral("▴ ") + tr("token %1").arg(n_prompt + step);
        }
    }
    return (prompt_shown_ ? QStringLiteral("▾ ") : QStringLiteral("▸ ")) +
           (run_->info().experiment.lanes[size_t(lane_)].spec.quantizes_as_it_writes(run_->n_layers())
                ? tr("prompt, %1 tokens, read quantized").arg(countText(n_prompt))
                : tr("prompt, %1 tokens, attention exact").arg(countText(n_prompt)));
}

void LaneBody::paintEvent(QPaintEvent* event) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(event->rect(), theme.colour(QStringLiteral("base")));
    const int pad = theme.px(11), strip = stripHeight();
    if (!note_.isEmpty() && !noteInStrip()) {
        paintNote(painter);
        if (marks_.empty()) return;
        painter.translate(0, noteHeight());
    }
    bool is_flip = false;
    painter.setFont(theme.font(9));
    painter.setPen(theme.colour(noteInStrip() && note_bad_ ? QStringLiteral("bad") : QStringLiteral("dim")));
    strip_painted_ = stripText(&is_flip);
    const QRect line(pad, theme.px(6), width() - 2 * pad, leastHeadHeight() - theme.px(6));
    painter.drawText(line, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(strip_painted_, Qt::ElideRight, line.width()));
    painter.resetTransform();

    painter.setClipRect(QRect(0, strip, width(), height() - strip) & event->rect());
    painter.setFont(theme.font(points_));
    const double line_height = flow_.lineHeight();
    const int first = std::max(0, int((scroll_ + event->rect().top() - strip) / line_height));
    const int last = std::min(flow_.lineCount() - 1, int((scroll_ + event->rect().bottom() - strip) / line_height));
    painter.translate(pad, 0);
    // The strip above and the newest lines are painted together, what lies between them is not.
    for (int line = first; line <= last; ++line) {
        const double top = strip + line * line_height - scroll_;
        if (event->region().intersects(QRectF(0, top - 2, width(), line_height + 4).toAlignedRect()))
            paintLine(painter, line, top);
    }
}

void LaneBody::paintLine(QPainter& painter, int line, double top) {
    const auto [first, last] = flow_.lineRange(line);
    for (size_t i = first; i < last; ++i)
        paintFragment(painter, flow_.fragments()[i], top);
}

void LaneBody::paintFragment(QPainter& painter, const TokenFlow::Fragment& f, double top) {
    const Theme& theme = Theme::instance();
    const QColor text = theme.colour(QStringLiteral("text"));
    const int step = f.token - promptTokens();
    const double text_height = flow_.textHeight(), y = top + (flow_.lineHeight() - text_height) / 2;
    const QRectF box(f.x, y, f.width, text_height);
    const Mark mark = step >= 0 ? marks_[size_t(step)] : Mark();
    if (mark.tint > 0) painter.fillRect(box, theme.tint(mark.tint));
    painter.setPen(step >= 0 ? text : theme.colour(QStringLiteral("dim")));
    if (!f.text.isEmpty())
        painter.drawText(QPointF(f.x, y + flow_.ascent()), f.text);
    else if (mark.tint > 0 && f.blank && flow_.textOf(f.token).contains(QLatin1Char('\n')))
        painter.drawText(QPointF(f.x, y + flow_.ascent()), QStringLiteral("↵"));  // wider than its token
    if (mark.other_top1) {
        QPen pen(text, 1.6, Qt::SolidLine, Qt::FlatCap);
        pen.setDashPattern({1.4, 1.1});
        painter.setPen(pen);
        painter.drawLine(QPointF(f.x, y + text_height - 0.8), QPointF(f.x + f.width, y + text_height - 0.8));
    }
    const bool first_fragment = flow_.rectOf(f.token).topLeft() == QPointF(f.x, f.line * flow_.lineHeight());
    if (step >= 0 && step == first_flip_ && first_fragment) {  // bar and pennant
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.fillRect(QRectF(f.x - 2.5, y - 1, 2.5, text_height + 2), text);
        QPainterPath pennant(QPointF(f.x, y - 1));
        pennant.lineTo(f.x + 6, y + 2);
        pennant.lineTo(f.x, y + 5);
        painter.fillPath(pennant, text);
        painter.restore();
    }
    if (step >= 0 && step == this->step()) {
        painter.setPen(QPen(text, 1.5));
        painter.drawRect(box.adjusted(-1.5, -0.5, 1.5, 0.5));
    }
}

}  // namespace kvasir::ui
