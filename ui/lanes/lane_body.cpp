// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_body.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cstdlib>

#include "ui/lanes/tint.h"
#include "ui/shell/figure_words.h"
#include "ui/shell/format.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

LaneBody::LaneBody(ViewState& view, QWidget* parent) : QWidget(parent), view_(view) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&view_, &ViewState::crosshairChanged, this, qOverload<>(&QWidget::update));
}

void LaneBody::setRun(std::shared_ptr<const RunModel> run, int lane) {
    run_ = std::move(run);
    lane_ = lane;
    scroll_ = 0;
    rebuild();
}

int LaneBody::promptTokens() const {
    return prompt_shown_ && run_ && !run_->empty() ? int(run_->info().prompt_ids.size()) : 0;
}

/// What a lane measured before it stopped says nothing about its scheme: no tint, no flip.
LaneBody::Mark LaneBody::markOf(const StepRecord& record) const {
    if (!run_->failure(lane_).empty()) return {};
    return {static_cast<unsigned char>(tintLevel(record, run_->floor_at(record.step), view_.errorMeasure())),
            record.comparable && !record.top1_agrees};
}

void LaneBody::rebuild() {
    flow_.clear();
    flow_.setFont(Theme::instance().font(points_), width() - 2 * Theme::instance().px(11));
    marks_.clear();
    n_floors_ = run_ ? run_->floors().size() : 0;
    text_ = ByteText();
    first_flip_ = -1;
    failed_ = false;
    if (promptTokens() > 0)
        for (const int id : run_->info().prompt_ids)
            flow_.append(text_.push(run_->piece_of(id)));
    appendNew();
    emit contentGrew();
    update();
}

void LaneBody::appendNew() {
    if (!run_ || run_->empty() || lane_ >= run_->n_lanes()) return;
    const bool failed = !run_->failure(lane_).empty();
    if (n_floors_ != run_->floors().size() || failed != failed_) {  // of tokens that are tinted already
        n_floors_ = run_->floors().size();
        failed_ = failed;
        if (failed) first_flip_ = -1;
        retint();
    }
    const std::vector<StepRecord>& records = run_->lane(lane_);
    if (marks_.size() >= records.size()) return;
    int first_line = flow_.lineCount() - 1;
    const bool reference = lane_ == run_->info().experiment.reference;
    for (size_t i = marks_.size(); i < records.size(); ++i) {
        const StepRecord& r = records[i];
        first_line = std::min(first_line, flow_.append(text_.push(run_->piece_of(r.token_id))));
        marks_.push_back(markOf(r));
        if (first_flip_ < 0 && !reference && marks_.back().other_top1) {
            first_flip_ = int(i);
            const auto& exact = run_->lane(run_->info().experiment.reference);
            flip_margin_ = i < exact.size() ? exact[i].margin : 0;
        }
    }
    flow_.setWaiting(text_.waiting());
    emit contentGrew();
    const int top = stripHeight() + int(first_line * flow_.lineHeight()) - scroll_;
    update(0, std::max(0, top), width(), height());
    updateStrip();
}

void LaneBody::setPromptShown(bool shown) {
    if (shown == prompt_shown_) return;
    prompt_shown_ = shown;
    rebuild();
}

void LaneBody::setNote(const QString& rich, bool bad) {
    if (note_ == rich && note_bad_ == bad) return;
    note_ = rich;
    note_bad_ = bad;
    emit contentGrew();  // there is another room for the text
    update();
}

void LaneBody::setTextPoints(double points) {
    points_ = points;
    restyle();
}

void LaneBody::restyle() {
    flow_.setFont(Theme::instance().font(points_), width() - 2 * Theme::instance().px(11));
    emit contentGrew();
    update();
}

void LaneBody::retint() {
    if (!run_ || run_->empty()) return;
    const std::vector<StepRecord>& records = run_->lane(lane_);
    for (size_t i = 0; i < marks_.size(); ++i)
        marks_[i] = markOf(records[i]);
    update();
}

void LaneBody::setScroll(int y) {
    y = std::clamp(y, 0, endScroll());
    if (y == scroll_) return;
    const int by = scroll_ - y, text_height = visibleHeight();
    scroll_ = y;
    if (std::abs(by) < text_height)
        scroll(0, by, QRect(0, stripHeight(), width(), text_height));
    else
        update();
    updateStrip();
}

void LaneBody::updateStrip() {
    bool is_flip = false;
    if (stripText(&is_flip) != strip_painted_) update(0, 0, width(), stripHeight());
}

int LaneBody::leastHeadHeight() {
    return QFontMetrics(Theme::instance().font(9)).height() + Theme::instance().px(14);
}
int LaneBody::stripHeight() const {
    return leastHeadHeight() + noteHeight();
}
int LaneBody::endScroll() const {
    const int line = lineHeight();
    return (std::max(0, contentHeight() - visibleHeight()) + line - 1) / line * line;
}
int LaneBody::placeAt(int y) const {
    return flow_.firstTokenOf(y / lineHeight());
}
int LaneBody::scrollForPlace(int place) const {
    return flow_.lineOf(std::min(place, flow_.tokenCount() - 1)) * lineHeight();
}
int LaneBody::contentHeight() const {
    return int(flow_.height());
}
int LaneBody::visibleHeight() const {
    return std::max(0, height() - stripHeight());
}

QRect LaneBody::stepRect(int step) const {
    const QRectF r = flow_.rectOf(step + promptTokens());
    if (r.isNull()) return {};
    const QRect rect = r.translated(Theme::instance().px(11), stripHeight() - scroll_).toAlignedRect();
    return rect.bottom() < stripHeight() || rect.top() > height() ? QRect() : rect;
}

int LaneBody::scrollFor(int step) const {
    const int line = flow_.lineOf(step + promptTokens());
    const int top = int(line * flow_.lineHeight()), bottom = top + int(flow_.lineHeight());
    if (top < scroll_) return top;
    if (bottom > scroll_ + visibleHeight())
        return (bottom - visibleHeight() + lineHeight() - 1) / lineHeight() * lineHeight();
    return scroll_;
}

int LaneBody::stepAt(const QPoint& point, bool nearest) const {
    if (point.y() < stripHeight()) return -1;
    const QPointF p(point.x() - Theme::instance().px(11), point.y() - stripHeight() + scroll_);
    const int token = flow_.tokenAt(p, nearest);
    const int step = token - promptTokens();
    return token < 0 || step < 0 ? -1 : step;
}

void LaneBody::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    restyle();
}

void LaneBody::mouseMoveEvent(QMouseEvent* event) {
    const int step = stepAt(event->pos(), false);
    setCursor(event->pos().y() < stripHeight() && run_ && !run_->empty() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (step >= 0) view_.setCrosshairStep(step);
    emit hovered(step);
}

void LaneBody::mousePressEvent(QMouseEvent* event) {
    QWidget::mousePressEvent(event);
    if (event->button() != Qt::LeftButton) return;
    if (event->pos().y() < stripHeight()) {
        bool flip = false;
        stripText(&flip);
        if (flip) {
            moveCursor(first_flip_);
        } else {
            emit promptToggled();
        }
        return;
    }
    const int step = stepAt(event->pos(), true);
    if (step < 0) return;
    moveCursor(step);
    emit details(step);
}

void LaneBody::leaveEvent(QEvent*) {
    emit hovered(-1);
}

void LaneBody::wheelEvent(QWheelEvent* event) {
    const int pixels = event->pixelDelta().isNull() ? event->angleDelta().y() * int(flow_.lineHeight()) * 3 / 120
                                                    : event->pixelDelta().y();
    emit wheelTurned(-pixels);
    event->accept();
}

void LaneBody::moveCursor(int step) {
    const int last = int(marks_.size()) - 1;
    if (last < 0) return;
    const int at = std::clamp(step, 0, last);
    view_.setCrosshairStep(at);
    if (const int y = scrollFor(at); y != scroll_) emit scrollWanted(y);
    const StepRecord& r = run_->lane(lane_)[size_t(at)];
    setAccessibleDescription(tr("Token %1, %2, %3")
                                 .arg(r.position)
                                 .arg(tokenText(run_->piece_of(r.token_id)), tokenErrorText(*run_, lane_, r)));
}

void LaneBody::keyPressEvent(QKeyEvent* event) {
    const int at = std::max(0, step());
    const QRectF here = flow_.rectOf(at + promptTokens());
    const auto line = [&](double by) {
        const QPointF p(here.center().x(), here.center().y() + by * flow_.lineHeight());
        const int token = flow_.tokenAt(p, true);
        if (token >= promptTokens())
            moveCursor(token - promptTokens());
        else
            emit wheelTurned(int(by * flow_.lineHeight()));
    };
    switch (event->key()) {
        case Qt::Key_Left:
            moveCursor(at - 1);
            return;
        case Qt::Key_Right:
            moveCursor(step() < 0 ? 0 : at + 1);
            return;
        case Qt::Key_Up:
            line(-1);
            return;
        case Qt::Key_Down:
            line(1);
            return;
        case Qt::Key_Home:
            moveCursor(0);
            return;
        case Qt::Key_End:
            moveCursor(int(marks_.size()) - 1);
            return;
        case Qt::Key_PageUp:
            emit wheelTurned(-visibleHeight());
            return;
        case Qt::Key_PageDown:
            emit wheelTurned(visibleHeight());
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (step() < 0) moveCursor(0);
            if (step() >= 0 && step() < int(marks_.size())) emit details(step());
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

void LaneBody::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    parentWidget()->update();
}

void LaneBody::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    parentWidget()->update();
}

}  // namespace kvasir::ui
